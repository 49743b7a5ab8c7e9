import fs from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openMailbox } from "../../mailbox/store.js";
import { type Sender, senderFromEnv } from "../../src/team/keys.js";
import type { LocatedTeam } from "../../src/team/locate.js";
import type { TeamPaths } from "../../src/team/paths.js";
import { memberFile, readTeamRecord, writeRecord } from "../../src/team/records.js";
import { mailboxOf, sendLetter, sendLetterAtOnce } from "../../src/team/send.js";
import { trustedSender } from "../../src/team/trusted-sender.js";
import { tryLock } from "../../src/util/lock.js";
import { addMember, type MadeHome, makeHome, makeTeam, memberEnvironment } from "../cli/made-team.js";

let made: MadeHome;
let user: Sender;

beforeEach(() => {
  made = makeHome();
  user = senderFromEnv({}, made.home);
});

afterEach(() => {
  fs.rmSync(made.root, { recursive: true, force: true });
});

function located(paths: TeamPaths): LocatedTeam {
  return { paths, record: readTeamRecord(paths) };
}

function mailOf(paths: TeamPaths, name: string) {
  return openMailbox(mailboxOf(paths, name))
    .peek()
    .messages.map(({ message }) => message);
}

describe("sendLetter", () => {
  it("stores a sealed message in the mailbox of the one who is meant", async () => {
    const paths = await makeTeam(made, { members: [{ name: "Reviewer" }] });
    const sent = sendLetter(located(paths), user, { to: "reviewer", text: "look", summary: "auth first" });
    expect(sent).toMatchObject({
      from: "user",
      to: "Reviewer",
      deliveries: [{ name: "Reviewer", outcome: "stored" }],
    });
    const [message, ...others] = mailOf(paths, "Reviewer");
    expect(others).toEqual([]);
    expect(message).toMatchObject({
      id: sent.id,
      from: "user",
      to: "Reviewer",
      text: "look",
      summary: "auth first",
      kind: "text",
    });
    expect(message && trustedSender(message, located(paths), "Reviewer")).toBe("user");
  });

  it("is from the teammate inside of one", async () => {
    const paths = await makeTeam(made, { members: [{ name: "scout" }, { name: "mapper" }] });
    const scout = await addMember(paths, { name: "scout" });
    const sender = senderFromEnv(memberEnvironment(paths, scout), made.home);
    sendLetter(located(paths), sender, { to: "mapper", text: "hi" });
    const [message] = mailOf(paths, "mapper");
    expect(message && trustedSender(message, located(paths), "mapper")).toBe("scout");
  });

  it("carries the team's name to another team", async () => {
    const paths = await makeTeam(made);
    const other = await makeTeam(made, { name: "other", members: [{ name: "scout" }] });
    const sender = senderFromEnv(
      memberEnvironment(other, await addMember(other, { name: "scout" })),
      made.home,
    );
    expect(sendLetter(located(paths), sender, { to: "user", text: "hi" }).from).toBe("scout@other");
    const [message] = mailOf(paths, "user");
    expect(message && trustedSender(message, located(paths), "user")).toBe("scout@other");
  });

  it("refuses an unknown name with the nearest, and creates nothing", async () => {
    const paths = await makeTeam(made, { members: [{ name: "reviewer" }] });
    const before = fs.readdirSync(paths.mail);
    for (const to of ["reviwer", "", "../user", "漢".repeat(200)])
      expect(() => sendLetter(located(paths), user, { to, text: "x" })).toThrow(
        expect.objectContaining({ code: "no-member", kind: "not-found" }),
      );
    expect(refusal(paths, "reviwer")).toMatchObject({ remedy: "did you mean reviewer?" });
    expect(refusal(paths, "zzz")).toMatchObject({ remedy: "members: user, reviewer" });
    expect(fs.readdirSync(paths.mail)).toEqual(before);
  });

  it("means the user by lead where the user leads, else the lead agent", async () => {
    const paths = await makeTeam(made, { members: [{ name: "scout" }] });
    expect(sendLetter(located(paths), user, { to: "Lead", text: "x" }).to).toBe("user");
    const led = await makeTeam(made, {
      name: "led",
      lead: "lead",
      members: [{ name: "lead", kind: "agent" }],
    });
    expect(sendLetter(located(led), user, { to: "lead", text: "x" }).to).toBe("lead");
    expect(mailOf(led, "lead")).toHaveLength(1);
  });

  it("reaches everybody but the sender with *, once each", async () => {
    const paths = await makeTeam(made, { members: [{ name: "scout" }, { name: "mapper" }] });
    const sent = sendLetter(located(paths), user, { to: "*", text: "stop" });
    expect(sent.deliveries.map(({ name }) => name)).toEqual(["scout", "mapper"]);
    expect(mailOf(paths, "user")).toEqual([]);
    for (const name of ["scout", "mapper"])
      expect(mailOf(paths, name)).toMatchObject([{ id: sent.id, to: "*" }]);
    const again = sendLetter(located(paths), user, { to: "*", text: "stop", id: sent.id });
    expect(again.deliveries.map(({ outcome }) => outcome)).toEqual(["duplicate", "duplicate"]);
  });

  it("tells of the one that a broadcast could not reach, and reaches the others", async () => {
    const paths = await makeTeam(made, { members: [{ name: "scout" }, { name: "mapper" }] });
    fs.rmSync(mailboxOf(paths, "scout"), { recursive: true });
    const { deliveries } = sendLetter(located(paths), user, { to: "*", text: "stop" });
    expect(deliveries).toMatchObject([
      { name: "scout", outcome: "failed", note: expect.stringContaining("scout") },
      { name: "mapper", outcome: "stored" },
    ]);
  });

  it("stores once what is sent again with the same id", async () => {
    const paths = await makeTeam(made, { members: [{ name: "scout" }] });
    const letter = { to: "scout", text: "once", id: "0123abcd" };
    expect(sendLetter(located(paths), user, letter).deliveries).toMatchObject([{ outcome: "stored" }]);
    expect(sendLetter(located(paths), user, letter).deliveries).toMatchObject([{ outcome: "duplicate" }]);
    expect(mailOf(paths, "scout")).toHaveLength(1);
    expect(() => sendLetter(located(paths), user, { ...letter, text: "other" })).toThrow(
      expect.objectContaining({ code: "id-taken" }),
    );
    expect(() => sendLetter(located(paths), user, { ...letter, id: "UPPER" })).toThrow(
      expect.objectContaining({ code: "bad-message", kind: "usage" }),
    );
  });

  it("keeps mail for one that has ended and says so, or refuses if asked to", async () => {
    const paths = await makeTeam(made, {
      members: [{ name: "scout", state: "ended", reason: "failed", detail: "exit code 3" }],
    });
    const sent = sendLetter(located(paths), user, { to: "scout", text: "later" });
    expect(sent.deliveries[0]?.note).toBe("scout has ended (failed: exit code 3); its mail waits");
    expect(() =>
      sendLetter(located(paths), user, { to: "scout", text: "now", requireRunning: true }),
    ).toThrow(expect.objectContaining({ code: "not-running", kind: "not-reached" }));
    expect(mailOf(paths, "scout")).toHaveLength(1);
  });

  it("stores for many at once as for one after the other", async () => {
    const names = Array.from({ length: 9 }, (_, n) => `m${n}`);
    const paths = await makeTeam(made, { members: names.map((name) => ({ name, kind: "agent" })) });
    fs.rmSync(mailboxOf(paths, "m4"), { recursive: true });
    const letter = { to: "*", text: "stop", id: "0123abcd" };
    const sent = await sendLetterAtOnce(located(paths), user, letter);
    expect(sent.deliveries.map(({ name, outcome }) => [name, outcome])).toEqual(
      names.map((name) => [name, name === "m4" ? "failed" : "stored"]),
    );
    expect(sendLetter(located(paths), user, letter).deliveries.map(({ outcome }) => outcome)).toEqual(
      names.map((name) => (name === "m4" ? "failed" : "duplicate")),
    );
    expect(mailOf(paths, "m8")).toMatchObject([{ id: sent.id, from: "user", to: "*", text: "stop" }]);
  });

  it("notes who reads mail only by the inbox, which is no reason to refuse", async () => {
    const paths = await makeTeam(made, { members: [{ name: "scout" }] });
    const letter = { to: "scout", text: "x", requireRunning: true };
    expect(sendLetter(located(paths), user, letter).deliveries[0]?.note).toBe(
      "scout is a command and reads mail only by troupe inbox",
    );
  });

  it("judges a member of an in-process team by its host", async () => {
    const paths = await makeTeam(made);
    const { process: _, ...record } = await addMember(paths, { name: "scout", kind: "agent" });
    await writeRecord(memberFile(paths, "scout"), record);
    const send = () => sendLetter(located(paths), user, { to: "scout", text: "x" }).deliveries[0]?.note;
    expect(send()).toContain("scout has ended (lost");
    const lock = await tryLock(paths.lock);
    expect(send()).toBeUndefined();
    lock?.release();
  });
});

function refusal(paths: TeamPaths, to: string): unknown {
  try {
    return sendLetter(located(paths), user, { to, text: "x" });
  } catch (error) {
    return error;
  }
}
