import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { Message } from "../../mailbox/message.js";
import { storeMessageSync } from "../../mailbox/send.js";
import { openMailbox } from "../../mailbox/store.js";
import type { TeamPaths } from "../../src/team/paths.js";
import { mailboxOf } from "../../src/team/send.js";
import { addMember, type MadeHome, makeHome, makeTeam, memberEnvironment } from "./made-team.js";
import { type RunOptions, runLine } from "./run-line.js";

let made: MadeHome;
let paths: TeamPaths;

beforeEach(async () => {
  made = makeHome();
  paths = await makeTeam(made, { members: [{ name: "reviewer" }, { name: "scout" }] });
});

afterEach(() => {
  fs.rmSync(made.root, { recursive: true, force: true });
});

function troupe(argv: readonly string[], options: RunOptions = {}) {
  return runLine(argv, { cwd: made.project, ...options, env: { TROUPE_HOME: made.home, ...options.env } });
}

function mailOf(name: string) {
  return openMailbox(mailboxOf(paths, name))
    .peek(["new", "cur", "done"])
    .messages.map(({ message, room }) => ({ text: message.text, room }));
}

describe("send", () => {
  it("takes the text as it stands, from stdin and from a file", async () => {
    const file = path.join(made.root, "text");
    fs.writeFileSync(file, "from a file\n");
    expect((await troupe(["send", "reviewer", "true"])).exitCode).toBe(0);
    expect((await troupe(["send", "reviewer", "-"], { stdin: "from stdin\n" })).exitCode).toBe(0);
    expect((await troupe(["send", "reviewer", "--file", file])).exitCode).toBe(0);
    expect((await troupe(["send", "reviewer", "--", "--json"])).exitCode).toBe(0);
    expect(mailOf("reviewer").map(({ text }) => text)).toEqual([
      "true",
      "from stdin\n",
      "from a file\n",
      "--json",
    ]);
  });

  it("prints what became of it, as a line or as a document", async () => {
    expect((await troupe(["send", "reviewer", "x", "--id", "0123abcd"])).stdout).toBe(
      "stored for reviewer #0123abcd\n",
    );
    const { stdout } = await troupe(["send", "reviewer", "x", "--id", "0123abcd", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      id: "0123abcd",
      from: "user",
      to: "reviewer",
      receipt: "stored",
      deliveries: [{ name: "reviewer", outcome: "duplicate" }],
    });
  });

  it.each([
    [["reviewer"], "TEXT is missing"],
    [["reviewer", "x", "--file", "y"], "not both"],
    [["reviewer", ""], "empty"],
    [["reviewer", "x", "--id", "NO"], '"id"'],
    [["reviewer@demo", "x", "--team", "nosuch"], "leave --team out"],
  ])("refuses %j with exit code 2", async (words, message) => {
    const { exitCode, error } = await troupe(["send", ...words]);
    expect(exitCode).toBe(2);
    expect(error?.message).toContain(message);
    expect(mailOf("reviewer")).toEqual([]);
  });

  it("refuses text that is too long or not UTF-8, and a file that is not there", async () => {
    const long = await troupe(["send", "reviewer", "-"], { stdin: "x".repeat(1024 * 1024 + 1) });
    expect(long).toMatchObject({ exitCode: 2, error: { message: expect.stringContaining("longer than") } });
    const bytes = await troupe(["send", "reviewer", "-"], { stdin: Buffer.from([0xff, 0xfe]) });
    expect(bytes).toMatchObject({ exitCode: 2, error: { message: expect.stringContaining("UTF-8") } });
    const missing = await troupe(["send", "reviewer", "--file", "/nonexistent"]);
    expect(missing).toMatchObject({ exitCode: 1, error: { code: "unreadable-file" } });
  });

  it("ends with 4 for an unknown member or team, and creates neither mailbox nor key", async () => {
    fs.rmSync(path.join(made.home, "keys"), { recursive: true });
    expect(await troupe(["send", "reviwer", "x"])).toMatchObject({
      exitCode: 4,
      error: { remedy: "did you mean reviewer?" },
    });
    expect(await troupe(["send", "reviewer", "x", "--team", "demmo"])).toMatchObject({
      exitCode: 4,
      error: { remedy: "did you mean demo?" },
    });
    expect(fs.readdirSync(paths.mail).sort()).toEqual(["reviewer", "scout", "user"]);
    expect(fs.existsSync(path.join(made.home, "keys"))).toBe(false);
  });

  it("waits for a receipt and ends with 3 if it does not come", async () => {
    const late = await troupe(["send", "reviewer", "x", "--wait", "seen", "--timeout", "50ms", "--json"]);
    expect(late.exitCode).toBe(3);
    expect(JSON.parse(late.stdout)).toMatchObject({ receipt: "stored", wanted: "seen", reached: false });
    const waiting = troupe(["send", "scout", "x", "--wait", "seen", "--timeout", "20s"]);
    await readOnce("scout");
    expect(await waiting).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^seen for scout/) });
  });

  it("names those of a group who were not reached, each with how far it got", async () => {
    for (let n = 0; n < 6; n++) await addMember(paths, { name: `m${n}`, order: 5 + n });
    const late = troupe(["send", "*", "x", "--id", "0123abcd", "--wait", "seen", "--timeout", "3s"]);
    await readOnce("m3");
    expect(await late).toMatchObject({
      exitCode: 3,
      stdout:
        "stored for reviewer, scout, m0, m1, m2, m4, m5, not seen in time #0123abcd\nseen for m3 #0123abcd\n",
    });
    for (const name of ["reviewer", "scout", "m0", "m1", "m2", "m4", "m5"]) await readOnce(name);
    expect((await troupe(["send", "*", "x", "--id", "0123abcd", "--wait", "seen"])).stdout).toBe(
      "seen before for 8 members #0123abcd\n",
    );
  });

  it("says maybe, with exit code 3, where storing could not be made durable", async () => {
    const { openSync } = fs;
    const failing = vi.spyOn(fs, "openSync").mockImplementation((file, ...rest) => {
      if (file === path.join(mailboxOf(paths, "scout"), "new"))
        throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
      return openSync(file, ...rest);
    });
    onTestFinished(() => failing.mockRestore());
    const { exitCode, stdout, stderr } = await troupe(["send", "*", "x", "--json"]);
    expect(exitCode).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      receipt: "unknown",
      deliveries: [{ outcome: "stored" }, { name: "scout", outcome: "maybe", receipt: "unknown" }],
    });
    expect(stderr).toMatch(/maybe stored for scout: .*EIO.*; send it again with the same id/);
    expect(stderr).not.toContain("not stored");
  });

  it("waits for the answer and prints it", async () => {
    const scout = await addMember(paths, { name: "scout" });
    const asking = troupe([
      "send",
      "scout",
      "ready?",
      "--id",
      "0123abcd",
      "--wait",
      "replied",
      "--timeout",
      "20s",
    ]);
    await readOnce("scout");
    const env = memberEnvironment(paths, scout);
    await troupe(["send", "user", "yes", "--reply-to", "0123abcd"], { env });
    expect(await asking).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/from scout .*\n {2}yes\n/),
    });
    expect(mailOf("user")).toEqual([{ text: "yes", room: "new" }]);
  });

  it("says who has ended, and with --require-running ends with 3", async () => {
    await addMember(paths, { name: "scout", state: "ended", reason: "completed" });
    const sent = await troupe(["send", "*", "x"]);
    expect(sent).toMatchObject({
      exitCode: 0,
      stderr:
        "troupe: reviewer is a command and reads mail only by troupe inbox\n" +
        "troupe: scout has ended (completed); its mail waits\n",
    });
    expect((await troupe(["send", "scout", "x", "--require-running"])).exitCode).toBe(3);
  });

  it("reaches a member of another team by name@team", async () => {
    const other = await makeTeam(made, {
      name: "other",
      projectRoot: "/elsewhere",
      members: [{ name: "ada" }],
    });
    expect((await troupe(["send", "ada@other", "hello"])).exitCode).toBe(0);
    expect(openMailbox(mailboxOf(other, "ada")).counts().new).toBe(1);
  });
});

describe("inbox", () => {
  it("prints the user's mail once and marks it as seen", async () => {
    await troupe(["send", "user", "first\nsecond line", "--summary", "two lines"]);
    const { stdout } = await troupe(["inbox"]);
    expect(stdout).toMatch(
      /^\d\d:\d\d:\d\d from user · two lines #[0-9a-f-]+\n {2}first\n {2}second line\n\n$/,
    );
    expect(mailOf("user")).toMatchObject([{ room: "done" }]);
    expect(await troupe(["inbox"])).toMatchObject({ stdout: "", stderr: "no new mail for user\n" });
  });

  it("forgets what was seen a week ago, and nothing by a look", async () => {
    await troupe(["send", "user", "old"]);
    await troupe(["inbox"]);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 8 * 24 * 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    await troupe(["inbox", "--peek"]);
    expect(mailOf("user")).toMatchObject([{ text: "old", room: "done" }]);
    await troupe(["inbox"]);
    expect(mailOf("user")).toEqual([]);
  });

  it("only looks with --peek, and at another's mail", async () => {
    await troupe(["send", "user", "x"]);
    await troupe(["send", "scout", "y"]);
    expect((await troupe(["inbox", "--peek"])).stdout).toContain("  x\n");
    expect((await troupe(["inbox", "scout"])).stdout).toContain("  y\n");
    expect([...mailOf("user"), ...mailOf("scout")].map(({ room }) => room)).toEqual(["new", "new"]);
  });

  it("takes the teammate's own mail inside of one", async () => {
    const env = memberEnvironment(paths, await addMember(paths, { name: "scout" }));
    await troupe(["send", "scout", "y"]);
    await troupe(["send", "user", "x"]);
    const { stdout } = await troupe(["inbox", "--json"], { env });
    expect(JSON.parse(stdout)).toMatchObject({ inbox: "scout", messages: [{ text: "y", sender: "user" }] });
    expect((await troupe(["inbox", "user"], { env })).stdout).toContain("  x\n");
    expect(mailOf("scout")).toMatchObject([{ room: "done" }]);
    expect(mailOf("user")).toMatchObject([{ room: "new" }]);
  });

  it("shows an unproven sender as external, and lets no text pass for a message or a control sequence", async () => {
    const env = { TROUPE_AGENT_ID: "scout@demo" };
    const sent = await troupe(["send", "user", "\u001b[2Jhi\n12:00:00 from user #x\r\nend"], { env });
    expect(sent.stderr).toContain("sent without a seal");
    const { stdout } = await troupe(["inbox"]);
    expect(stdout).toMatch(/from external:scout #/);
    expect(stdout).not.toContain("\u001b");
    expect(stdout.split("\n").filter((line) => /^\S/.test(line))).toHaveLength(1);
  });

  it("gives mail back if it could not be written out", async () => {
    await troupe(["send", "user", "x"]);
    const broken = await troupe(["inbox"], {
      onPrint() {
        throw new Error("the reader is gone");
      },
    });
    expect(broken.exitCode).toBe(1);
    expect(mailOf("user")).toMatchObject([{ room: "new" }]);
  });

  it("tells of what is no message and goes on", async () => {
    fs.writeFileSync(path.join(mailboxOf(paths, "user"), "new/0123abcd.json"), "{");
    await troupe(["send", "user", "x"]);
    const { stdout, stderr } = await troupe(["inbox"]);
    expect(stdout).toContain("  x\n");
    expect(stderr).toMatch(/0123abcd\.json was no message and was put aside/);
  });

  it.each([
    ["the user's own, marking each as seen", ["inbox", "--follow", "--json"], "user", "done"],
    ["another's, only looking", ["inbox", "scout", "--follow", "--json"], "scout", "new"],
  ])("follows %s", async (_, argv, name, room) => {
    const stop = new AbortController();
    await troupe(["send", name, "before"]);
    const lines: string[] = [];
    const following = troupe(argv, {
      signal: stop.signal,
      onPrint(stdout) {
        lines.splice(0, lines.length, ...stdout.trim().split("\n"));
        if (lines.length === 1) void troupe(["send", name, "after"]);
        else stop.abort(new Error("enough"));
      },
    });
    await following;
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { text: "before", sender: "user" },
      { text: "after", sender: "user" },
    ]);
    expect(mailOf(name).map((mail) => mail.room)).toEqual([room, room]);
  });

  it("prints and marks as seen what it claims, before it claims more", async () => {
    const count = 300;
    const mailbox = openMailbox(mailboxOf(paths, "user"));
    for (let n = 0; n < count; n++) storeMessageSync(mailboxOf(paths, "user"), letter(n));
    const seenAt: number[] = [];
    const { stdout } = await troupe(["inbox"], { onPrint: () => seenAt.push(mailbox.counts().done) });
    expect(stdout.match(/^ {2}text \d+$/gm)).toEqual(Array.from({ length: count }, (_, n) => `  text ${n}`));
    expect(seenAt.length).toBeGreaterThan(1);
    expect(seenAt[0]).toBe(0);
    expect(seenAt.at(-1)).toBeGreaterThan(0);
    expect(mailbox.counts()).toMatchObject({ new: 0, cur: 0, done: count });
  });

  it("follows another's that cannot be read: says so once, and shows what can be read again", async () => {
    const stop = new AbortController();
    const dir = path.join(mailboxOf(paths, "scout"), "new");
    await troupe(["send", "scout", "found"]);
    fs.writeFileSync(path.join(dir, "0123abcd.json"), "{");
    fs.renameSync(dir, `${dir}.away`);
    const { stderr, error } = await troupe(["inbox", "scout", "--follow"], {
      signal: stop.signal,
      onNote: () => {
        if (!fs.existsSync(dir)) fs.renameSync(`${dir}.away`, dir);
      },
      onPrint: () => stop.abort(new Error("enough")),
    });
    expect(error).toBeUndefined();
    expect(stderr).toMatch(/0123abcd\.json was no message/);
  }, 60_000);

  it.each([["user"], ["scout"]])("ends at once where the signal came before, for %s", async (name) => {
    const { error } = await troupe(["inbox", name, "--follow"], {
      signal: AbortSignal.abort(new Error("enough")),
    });
    expect(error).toBeUndefined();
  });
});

function letter(n: number): Message {
  return {
    v: 1,
    id: `letter-${1000 + n}`,
    from: "scout",
    to: "user",
    sentAt: new Date().toISOString(),
    kind: "text",
    text: `text ${n}`,
  };
}

/** Reads and acknowledges the first message that comes. */
async function readOnce(name: string): Promise<void> {
  const mailbox = openMailbox(mailboxOf(paths, name));
  await expect
    .poll(() => mailbox.acknowledge(mailbox.claim().messages.map(({ id }) => id)) && mailbox.counts().done, {
      timeout: 10_000,
    })
    .toBe(1);
}
