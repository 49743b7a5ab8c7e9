import fs from "node:fs";
import { describe, expect, it } from "vitest";
import type { Sender } from "../../src/team/keys.js";
import { createPostman } from "../../src/team/postman.js";
import { readTeamRecord, writeRecord } from "../../src/team/records.js";
import { mailboxOf, sendLetter } from "../../src/team/send.js";
import { trustedSender } from "../../src/team/trusted-sender.js";
import { makeTeam } from "../cli/made-team.js";
import { type LivingTeam, makeLivingTeam } from "./living-team.js";

const channels = { Review: ["ada", "bob"], top: ["lead", "ada"], alone: ["user"] };

async function teamWithChannels(): Promise<LivingTeam> {
  const team = await makeLivingTeam({ agents: ["ada", "bob", "cid"] });
  const record = { ...team.record, channels };
  await writeRecord(team.paths.teamRecord, record);
  return { ...team, record };
}

const userOf = (team: LivingTeam): Sender => ({ name: "user", privateKey: team.key("user") });

describe("mail to a channel", () => {
  it("reaches each of its members, told of one by one, and proves its sender to them alone", async () => {
    const team = await teamWithChannels();
    const sent = sendLetter(team, userOf(team), { to: "#review", text: "look" });
    expect(sent).toMatchObject({ to: "#Review", from: "user" });
    expect(sent.deliveries).toEqual([
      { name: "ada", outcome: "stored" },
      { name: "bob", outcome: "stored" },
    ]);
    const [message] = team.mailOf("ada");
    expect(team.mailOf("bob")).toEqual([message]);
    expect(message).toMatchObject({ id: sent.id, to: "#Review" });
    expect([...team.mailOf("cid"), ...team.mailOf("user")]).toEqual([]);
    expect(trustedSender(message!, team, "ada")).toBe("user");
    expect(trustedSender(message!, team, "cid")).toBe("external:user");
  });

  it("leaves its sender out, and means the user by lead where the user leads", async () => {
    const team = await teamWithChannels();
    const ada = createPostman({ team, from: "ada", privateKey: team.key("ada") });
    expect(ada.resolve("#TOP")).toBe("#top");
    expect(await ada.send("#top", { kind: "text", text: "x" })).toMatchObject([{ to: "user", stored: true }]);
    expect(sendLetter(team, userOf(team), { to: "#top", text: "y" }).deliveries).toMatchObject([
      { name: "ada" },
    ]);
    expect(team.mailOf("user")).toMatchObject([{ from: "ada", to: "#top" }]);
  });

  it("is refused where the channel is unknown, with the nearest, or holds nobody else", async () => {
    const team = await teamWithChannels();
    const before = fs.readdirSync(team.paths.mail).sort();
    const postman = createPostman({ team, from: "user", privateKey: team.key("user") });
    for (const [to, code, remedy] of [
      ["#reviw", "no-channel", "did you mean #Review?"],
      ["#zzzz", "no-channel", "channels: #Review, #top, #alone"],
      ["#", "no-channel", "channels: #Review, #top, #alone"],
      ["#alone", "nobody", "see who is there: troupe status"],
    ] as const) {
      const refusal = expect.objectContaining({ code, kind: "not-found", remedy });
      expect(() => sendLetter(team, userOf(team), { to, text: "x" })).toThrow(refusal);
      await expect(postman.send(to, { kind: "text", text: "x" })).rejects.toThrow(refusal);
    }
    expect(fs.readdirSync(team.paths.mail).sort()).toEqual(before);
    const plain = await makeLivingTeam();
    expect(() => sendLetter(plain, userOf(plain), { to: "#review", text: "x" })).toThrow(
      expect.objectContaining({ remedy: "name one in the team file, under channels" }),
    );
  });

  it("is completed by a repeat with its id where it did not reach all", async () => {
    const team = await teamWithChannels();
    const bob = mailboxOf(team.paths, "bob");
    fs.renameSync(bob, `${bob}.away`);
    const letter = { to: "#review", text: "look", id: "0123abcd" };
    const first = sendLetter(team, userOf(team), letter);
    expect(first.deliveries).toMatchObject([
      { name: "ada", outcome: "stored" },
      {
        name: "bob",
        outcome: "failed",
        note: expect.stringMatching(/^not stored for bob: there is no mailbox/),
      },
    ]);
    fs.renameSync(`${bob}.away`, bob);
    expect(sendLetter(team, userOf(team), letter).deliveries).toMatchObject([
      { name: "ada", outcome: "duplicate" },
      { name: "bob", outcome: "stored" },
    ]);
    expect([team.mailOf("ada").length, team.mailOf("bob").length]).toEqual([1, 1]);
  });
});

describe("mail to everybody", () => {
  it("is refused where there is nobody else", async () => {
    const team = await makeLivingTeam({ agents: [] });
    const refusal = expect.objectContaining({ code: "nobody", kind: "not-found" });
    expect(() => sendLetter(team, userOf(team), { to: "*", text: "x" })).toThrow(refusal);
  });
});

describe("mail to another team, as a member sends it", () => {
  it("carries both names, is proven there, and is answered by the name it came from", async () => {
    const team = await makeLivingTeam({ agents: ["ada"] });
    const paths = await makeTeam(team.made, { name: "other", members: [{ name: "Eve" }] });
    const other = { paths, record: { ...readTeamRecord(paths), channels: { pair: ["eve", "user"] } } };
    await writeRecord(paths.teamRecord, other.record);
    const ada = createPostman({ team, from: "ada", privateKey: team.key("ada") });
    expect(ada.resolve("EVE@OTHER")).toBe("Eve@other");
    expect(ada.resolve("ada@demo")).toBe("ada");
    expect(await ada.send("eve@other", { kind: "text", text: "hi" })).toMatchObject([
      { to: "Eve@other", stored: true },
    ]);
    const posted = await ada.send("#pair@other", { kind: "text", text: "both" });
    expect(posted.map(({ to }) => to)).toEqual(["eve@other", "user@other"]);
    const inOther: LivingTeam = { ...team, ...other };
    const mail = (await import("../../mailbox/index.js")).openMailbox(mailboxOf(inOther.paths, "eve")).peek();
    expect(mail.messages.map(({ message }) => trustedSender(message, other, "eve"))).toEqual([
      "ada@demo",
      "ada@demo",
    ]);
    await expect(ada.send("eve@othr", { kind: "text", text: "x" })).rejects.toMatchObject({
      code: "no-team",
      remedy: "did you mean other?",
    });
  });
});
