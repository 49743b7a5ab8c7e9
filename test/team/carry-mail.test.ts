import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { openMailbox } from "../../mailbox/index.js";
import { carryMail } from "../../src/team/carry-mail.js";
import { readTeamRecord } from "../../src/team/records.js";
import { mailboxOf } from "../../src/team/send.js";
import { trustedSender } from "../../src/team/trusted-sender.js";
import { makeTeam } from "../cli/made-team.js";
import { type LivingTeam, makeLivingTeam } from "./living-team.js";

/** Puts the files of a team aside and makes a new one of its name, as `up` does. */
async function restarted(team: LivingTeam) {
  const archived = path.join(team.made.root, "archived");
  fs.renameSync(team.paths.root, archived);
  const paths = await makeTeam(team.made);
  return { mail: path.join(archived, "mail"), team: { paths, record: readTeamRecord(paths) } };
}

const textsOf = (dir: string) =>
  fs.existsSync(dir)
    ? openMailbox(dir)
        .peek()
        .messages.map(({ message }) => message.text)
    : undefined;

test("what the person has not read comes along, and what the person wrote to members of the same name", async () => {
  const before = await makeLivingTeam({ agents: ["ada", "bob", "gone"] });
  await before.post("ada", "user", { text: "read" });
  const own = openMailbox(mailboxOf(before.paths, "user"));
  own.acknowledge(own.claim().messages.map(({ id }) => id));
  await before.post("ada", "user", { text: "unread" });
  await before.post("user", "ada", { text: "look" });
  openMailbox(mailboxOf(before.paths, "ada")).claim();
  await before.post("user", "ada", { text: "forged" }, "nobody");
  await before.post("bob", "ada", { text: "between us" });
  await before.post("user", "ada", { kind: "interrupt", text: "stop" });
  await before.post("user", "gone", { text: "for nobody" });
  const { mail, team } = await restarted(before);
  expect(await carryMail(mail, team, ["Ada", "new"])).toEqual({ carried: 2, left: 4, troubles: [] });
  expect(textsOf(mailboxOf(team.paths, "user"))).toEqual(["unread"]);
  expect(textsOf(mailboxOf(team.paths, "ada"))).toEqual(["look"]);
  const [look] = openMailbox(mailboxOf(team.paths, "ada")).peek().messages;
  expect(look && trustedSender(look.message, team, "ada")).toBe("user");
  for (const name of ["gone", "new"]) expect(textsOf(mailboxOf(team.paths, name))).toBeUndefined();
});

test("a mailbox that cannot be read is told, and the others come along", async () => {
  const before = await makeLivingTeam();
  await before.post("user", "bob", { text: "look" });
  fs.rmSync(path.join(mailboxOf(before.paths, "ada"), "new"), { recursive: true });
  const { mail, team } = await restarted(before);
  expect(await carryMail(mail, team, ["ada", "bob"])).toMatchObject({
    carried: 1,
    left: 0,
    troubles: [expect.stringContaining("ada")],
  });
});
