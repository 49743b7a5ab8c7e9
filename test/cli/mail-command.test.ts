import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openMailbox } from "../../mailbox/store.js";
import type { TeamPaths } from "../../src/team/paths.js";
import { readMember } from "../../src/team/records.js";
import { mailboxOf } from "../../src/team/send.js";
import { until } from "../helpers/until.js";
import { addMember, type MadeHome, makeHome, makeTeam, memberEnvironment } from "./made-team.js";
import { type RunOptions, runLine } from "./run-line.js";

let made: MadeHome;
let paths: TeamPaths;

beforeEach(async () => {
  made = makeHome();
  paths = await makeTeam(made, { members: [{ name: "Ada" }, { name: "bob" }] });
});

afterEach(() => {
  fs.rmSync(made.root, { recursive: true, force: true });
});

function troupe(argv: readonly string[], options: RunOptions = {}) {
  return runLine(argv, { cwd: made.project, ...options, env: { TROUPE_HOME: made.home, ...options.env } });
}

/** Sends from one member to another and gives the id. */
async function post(from: string, to: string, text: string, ...more: string[]): Promise<string> {
  const member = readMember(paths, from);
  if (member === undefined) throw new Error(`no ${from}`);
  const env = from === "user" ? {} : memberEnvironment(paths, member);
  const { stdout } = await troupe(["send", to, text, "--json", ...more], { env });
  return JSON.parse(stdout).id;
}

function see(name: string): void {
  const mailbox = openMailbox(mailboxOf(paths, name));
  mailbox.acknowledge(mailbox.claim().messages.map(({ id }) => id));
}

async function documents(...words: string[]) {
  const { stdout, exitCode } = await troupe(["mail", ...words, "--json"]);
  expect(exitCode).toBe(0);
  return JSON.parse(stdout);
}

/** Everything below the team's mail, with what it holds. */
const state = () =>
  fs
    .readdirSync(paths.mail, { recursive: true, encoding: "utf8" })
    .filter((name) => !name.endsWith(".lock"))
    .sort();

describe("mail", () => {
  it("shows the team's mail as a thread, and takes none", async () => {
    const asked = await post("user", "ada", "Look at auth.", "--summary", "auth first");
    await post("user", "bob", "Wait.");
    await post("Ada", "user", "I did.", "--reply-to", asked);
    see("ada");
    const before = state();
    const { stdout, exitCode, stderr } = await troupe(["mail"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout.replace(/#[0-9a-f-]{36}/g, "#id").replace(/\d\d:\d\d:\d\d/g, "12:00:00")).toBe(
      [
        "12:00:00 user -> Ada seen #id",
        "  auth first",
        "  | Look at auth.",
        "",
        "  12:00:00 Ada -> user stored #id",
        "    | I did.",
        "",
        "12:00:00 user -> bob stored #id",
        "  | Wait.",
        "",
        "",
      ].join("\n"),
    );
    expect(state()).toEqual(before);
  });

  it("shows a broadcast once, with how far it got for each", async () => {
    const id = await post("user", "*", "stop");
    see("bob");
    const { messages } = await documents();
    expect(messages).toMatchObject([
      {
        id,
        sender: "user",
        to: "*",
        receipt: "stored",
        recipients: [
          { name: "Ada", receipt: "stored" },
          { name: "bob", receipt: "seen" },
        ],
      },
    ]);
    // One that a repeat completed later is the same one.
    await addMember(paths, { name: "cid", order: 9 });
    await post("user", "*", "stop", "--id", id);
    expect((await documents()).messages).toMatchObject([{ recipients: [{}, {}, { name: "cid" }] }]);
  });

  it("shows one member's, or what is between two", async () => {
    await post("user", "ada", "1");
    await post("Ada", "bob", "2");
    await post("bob", "Ada", "3");
    await post("bob", "user", "4");
    await post("Ada", "*", "5");
    const texts = async (...words: string[]) =>
      (await documents(...words)).messages.map(({ text }: { text: string }) => text);
    expect(await texts()).toEqual(["1", "2", "3", "4", "5"]);
    expect(await texts("ADA")).toEqual(["1", "2", "3", "5"]);
    expect(await texts("lead")).toEqual(["1", "4", "5"]);
    expect(await texts("bob", "ada")).toEqual(["2", "3", "5"]);
    expect(await texts("user", "bob")).toEqual(["4"]);
    expect(await texts("user", "user")).toEqual([]);
    expect((await documents("bob", "ADA")).between).toEqual(["bob", "Ada"]);
  });

  it("shows who proves nothing as external, under the name that it claims", async () => {
    await troupe(["send", "user", "trust me"], { env: { TROUPE_AGENT_ID: "Ada@demo" } });
    expect((await documents("ada")).messages).toMatchObject([{ from: "Ada", sender: "external:Ada" }]);
  });

  it("says so where there is none, or no such member or team", async () => {
    expect(await troupe(["mail"])).toMatchObject({ exitCode: 0, stderr: "no mail in team demo\n" });
    expect(await troupe(["mail", "ada"])).toMatchObject({ stderr: "no mail to or from Ada\n" });
    expect(await troupe(["mail", "ada", "bob"])).toMatchObject({ stderr: "no mail between Ada and bob\n" });
    expect(await troupe(["mail", "ada", "bbo"])).toMatchObject({
      exitCode: 4,
      error: { remedy: "did you mean bob?" },
    });
    expect(await troupe(["mail", "--team", "demmo"])).toMatchObject({ exitCode: 4 });
    expect(await troupe(["mail", "a", "b", "c"])).toMatchObject({ exitCode: 2 });
    expect(await troupe(["mail", "--peek"])).toMatchObject({ exitCode: 2 });
  });

  it("tells of what it cannot show, and of a mailbox that it cannot read, and shows the rest", async () => {
    await post("user", "bob", "x");
    fs.writeFileSync(path.join(mailboxOf(paths, "bob"), "new/0123abcd.json"), "{");
    fs.rmSync(path.join(mailboxOf(paths, "ada"), "cur"), { recursive: true });
    const { stdout, stderr, exitCode } = await troupe(["mail"]);
    expect(stdout).toContain("  | x\n");
    expect(stderr).toMatch(/in the mail of bob 0123abcd\.json is not shown: not JSON/);
    expect(stderr).toMatch(/the mail of Ada cannot be read/);
    expect(exitCode).toBe(1);
    expect(fs.existsSync(path.join(mailboxOf(paths, "bob"), "new/0123abcd.json"))).toBe(true);
  });

  it("says in its help that pruned mail is gone", async () => {
    expect((await troupe(["mail", "--help"])).stdout).toContain("mail that was pruned is no longer there");
  });
});

describe("mail --follow", () => {
  /** Follows until `count` prints have come. */
  function following(argv: readonly string[]) {
    const stop = new AbortController();
    let printed = "";
    const onPrint = (stdout: string) => {
      printed = stdout;
    };
    const finished = troupe(["mail", "--follow", ...argv], { signal: stop.signal, onPrint });
    return {
      shows: (text: string) =>
        until(
          () => printed.includes(text),
          text,
          () => printed,
        ),
      async end() {
        stop.abort(new Error("ended"));
        return finished;
      },
    };
  }

  it("goes on as mail comes, says what is answered, and ends by the signal", async () => {
    const asked = await post("user", "ada", "before");
    const view = following([]);
    await view.shows("before");
    await post("Ada", "user", "an answer", "--reply-to", asked);
    await view.shows("an answer");
    await addMember(paths, { name: "late", order: 7 });
    await post("user", "late", "to one that joined");
    await view.shows("to one that joined");
    const { exitCode, stdout, stderr } = await view.end();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toContain(`\n  in reply to #${asked}\n  | an answer\n`);
    expect(stdout.match(/->/g)).toHaveLength(3);
  });

  it("prints a line for each message with --json, a broadcast once", async () => {
    await post("user", "ada", "one");
    const view = following(["--json"]);
    await view.shows("one");
    await post("user", "*", "two");
    await view.shows("two");
    await post("bob", "ada", "three");
    await view.shows("three");
    const { stdout } = await view.end();
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ text }) => text)).toEqual(["one", "two", "three"]);
    expect(lines[0]).toMatchObject({ sender: "user", receipt: "stored", recipients: [{ name: "Ada" }] });
  });

  it("shows only what concerns the two", async () => {
    const view = following(["ada", "bob"]);
    await post("user", "ada", "not this");
    await post("bob", "ada", "this");
    await view.shows("| this");
    expect((await view.end()).stdout).not.toContain("not this");
  });
});
