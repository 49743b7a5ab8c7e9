import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openMailbox } from "../../mailbox/store.js";
import type { TeamPaths } from "../../src/team/paths.js";
import { readMember, readTeamRecord, writeRecord } from "../../src/team/records.js";
import { mailboxOf } from "../../src/team/send.js";
import { until } from "../helpers/until.js";
import { type MadeHome, makeHome, makeTeam, memberEnvironment } from "./made-team.js";
import { type RunOptions, runLine } from "./run-line.js";

let made: MadeHome;
let paths: TeamPaths;

beforeEach(async () => {
  made = makeHome();
  paths = await makeTeam(made, { members: ["ada", "bob", "cid"].map((name) => ({ name })) });
  const record = readTeamRecord(paths);
  await writeRecord(paths.teamRecord, { ...record, channels: { pair: ["ada", "bob"] } });
});

afterEach(() => {
  fs.rmSync(made.root, { recursive: true, force: true });
});

function troupe(argv: readonly string[], options: RunOptions = {}) {
  return runLine(argv, { cwd: made.project, ...options, env: { TROUPE_HOME: made.home, ...options.env } });
}

const box = (name: string) => openMailbox(mailboxOf(paths, name));
const textsOf = (name: string) =>
  box(name)
    .peek(["new", "cur", "done"])
    .messages.map(({ message }) => message.text);

/** Takes what waits for a member, and acknowledges it if asked to. */
async function take(name: string, seen: boolean): Promise<void> {
  await until(() => box(name).counts().new > 0, `mail for ${name}`);
  const ids = box(name)
    .claim()
    .messages.map(({ id }) => id);
  if (seen) box(name).acknowledge(ids);
}

async function answer(name: string, id: string, text: string): Promise<void> {
  const member = readMember(paths, name);
  if (member === undefined) throw new Error(`no ${name}`);
  await troupe(["send", "user", text, "--reply-to", id], { env: memberEnvironment(paths, member) });
}

describe("send to a channel", () => {
  it("stores for each of its members and says so", async () => {
    const sent = await troupe(["send", "#PAIR", "look", "--id", "0123abcd", "--json"]);
    expect(sent.exitCode).toBe(0);
    expect(JSON.parse(sent.stdout)).toMatchObject({
      to: "#pair",
      receipt: "stored",
      reached: true,
      deliveries: [
        { name: "ada", outcome: "stored", receipt: "stored" },
        { name: "bob", outcome: "stored", receipt: "stored" },
      ],
    });
    expect((await troupe(["send", "#pair", "look", "--id", "0123abcd"])).stdout).toBe(
      "stored before for ada, bob #0123abcd\n",
    );
    expect([textsOf("ada"), textsOf("bob"), textsOf("cid")]).toEqual([["look"], ["look"], []]);
  });

  it("ends with 4 where there is no such channel, and makes nothing", async () => {
    fs.rmSync(path.join(made.home, "keys"), { recursive: true });
    expect(await troupe(["send", "#par", "x"])).toMatchObject({
      exitCode: 4,
      error: { code: "no-channel", remedy: "did you mean #pair?" },
    });
    expect(await troupe(["send", "#pair@demmo", "x"])).toMatchObject({ exitCode: 4 });
    expect(fs.existsSync(path.join(made.home, "keys"))).toBe(false);
  });

  it("ends with 1 where it was not stored for all, and a repeat completes it", async () => {
    fs.renameSync(mailboxOf(paths, "bob"), `${mailboxOf(paths, "bob")}.away`);
    const line = ["send", "#pair", "x", "--id", "0123abcd"];
    expect(await troupe(line)).toMatchObject({
      exitCode: 1,
      stdout: "stored for ada #0123abcd\n",
      stderr: expect.stringContaining("not stored for bob"),
    });
    fs.renameSync(`${mailboxOf(paths, "bob")}.away`, mailboxOf(paths, "bob"));
    expect((await troupe(line)).exitCode).toBe(0);
    expect([textsOf("ada"), textsOf("bob")]).toEqual([["x"], ["x"]]);
  });

  it("ends with 1 where it was stored for nobody, and does not say it was", async () => {
    for (const name of ["ada", "bob"]) fs.rmSync(mailboxOf(paths, name), { recursive: true });
    const sent = await troupe(["send", "#pair", "x", "--json", "--wait", "seen"]);
    expect(sent.exitCode).toBe(1);
    expect(JSON.parse(sent.stdout)).toMatchObject({ receipt: "none", reached: false });
  });
});

describe.each([
  ["*", ["ada", "bob", "cid"]],
  ["#pair", ["ada", "bob"]],
] as const)("waiting for all of %s", (to, names) => {
  it("gives the least receipt of all, and each one's own", async () => {
    const [first = "", ...others] = names;
    const line = ["send", to, "x", "--id", "0123abcd", "--json", "--wait"];
    expect((await troupe([...line, "stored"])).exitCode).toBe(0);
    await take(first, true);
    for (const name of others) await take(name, false);
    const { exitCode, stdout } = await troupe([...line, "seen", "--timeout", "200ms"]);
    expect(exitCode).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      wanted: "seen",
      reached: false,
      receipt: "delivered",
      deliveries: names.map((name) => ({ name, receipt: name === first ? "seen" : "delivered" })),
    });
  });

  it("ends when the last one got that far", async () => {
    const waiting = troupe(["send", to, "x", "--wait", "delivered", "--timeout", "25s"]);
    for (const name of names) await take(name, false);
    expect(await waiting).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(`^delivered for ${names.join(", ")} #`),
    });
  });

  it("for answers takes one of each, and prints them", async () => {
    const id = "0123abcd";
    const asking = troupe(["send", to, "ready?", "--id", id, "--wait", "replied", "--timeout", "25s"]);
    for (const name of names) await take(name, true);
    for (const name of names) {
      await answer(name, id, `${name} is`);
      await answer(name, id, `${name} says more`);
    }
    const { exitCode, stdout } = await asking;
    expect(exitCode).toBe(0);
    for (const name of names) expect(stdout).toContain(`  ${name} is\n`);
    expect(stdout).not.toContain("says more");
  });

  it("for answers tells who gave none", async () => {
    const id = "0123abcd";
    const line = ["send", to, "?", "--id", id, "--json", "--wait"];
    expect((await troupe([...line, "stored"])).exitCode).toBe(0);
    const [first = "", ...others] = names;
    await take(first, true);
    await answer(first, id, "yes");
    const { exitCode, stdout } = await troupe([...line, "replied", "--timeout", "200ms"]);
    expect(exitCode).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      receipt: "stored",
      deliveries: [{ receipt: "replied" }, ...others.map(() => ({ receipt: "stored" }))],
      replies: [{ sender: first, text: "yes" }],
    });
  });
});

describe("waiting", () => {
  it("never guesses where the mailbox goes meanwhile", async () => {
    const waiting = troupe(["send", "ada", "x", "--wait", "seen", "--timeout", "25s", "--json"]);
    await until(() => box("ada").counts().new > 0, "mail for ada");
    fs.rmSync(mailboxOf(paths, "ada"), { recursive: true });
    const { exitCode, stdout } = await waiting;
    expect(exitCode).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ receipt: "unknown", reached: false });
  });

  it("for an answer sends nothing where none could come", async () => {
    fs.rmSync(mailboxOf(paths, "user"), { recursive: true });
    expect(await troupe(["send", "ada", "x", "--wait", "replied"])).toMatchObject({
      exitCode: 4,
      error: { code: "no-mailbox" },
    });
    expect(textsOf("ada")).toEqual([]);
  });
});
