import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { mailRooms } from "../../mailbox/index.js";
import { mailboxOf } from "../../src/team/send.js";
import { openTeamMail } from "../../src/team/team-mail.js";
import { makeLivingTeam } from "./living-team.js";

test("lists only rooms that have changed, and finds what comes into them and what could not be read before", async () => {
  const team = await makeLivingTeam();
  const textsIn = ({ news }: ReturnType<typeof openTeamMail>) =>
    news().messages.map(({ message }) => message.text);
  await team.post("user", "ada", { text: "one" });
  const mail = openTeamMail(team, []);
  expect(textsIn(mail)).toEqual(["one"]);
  for (const name of ["user", "ada", "bob"])
    for (const room of mailRooms) fs.utimesSync(path.join(mailboxOf(team.paths, name), room), 1, 1);
  expect(textsIn(mail)).toEqual([]);
  const listing = vi.spyOn(fs, "readdirSync");
  onTestFinished(() => listing.mockRestore());
  const listed = () => listing.mock.calls.filter(([dir]) => String(dir).startsWith(team.paths.mail)).length;
  expect(textsIn(mail)).toEqual([]);
  expect(listed()).toBe(0);
  const { openSync } = fs;
  const reading = vi.spyOn(fs, "openSync").mockImplementation((file, ...rest) => {
    if (String(file).includes(`${path.sep}new${path.sep}`))
      throw Object.assign(new Error("EMFILE"), { code: "EMFILE" });
    return openSync(file, ...rest);
  });
  await team.post("user", "ada", { text: "two" });
  fs.utimesSync(path.join(mailboxOf(team.paths, "ada"), "new"), 2, 2);
  listing.mockClear();
  expect(mail.news()).toMatchObject({ messages: [], problems: [{ owner: "ada" }] });
  reading.mockRestore();
  expect(textsIn(mail)).toEqual(["two"]);
  expect(listed()).toBe(2);
});
