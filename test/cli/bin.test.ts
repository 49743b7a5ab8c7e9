import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openMailbox } from "../../mailbox/store.js";
import type { TeamPaths } from "../../src/team/paths.js";
import { mailboxOf } from "../../src/team/send.js";
import { bundleScript } from "../helpers/bundle.js";
import { type MadeHome, makeHome, makeTeam } from "./made-team.js";

const root = path.join(import.meta.dirname, "../..");
let made: MadeHome;
let paths: TeamPaths;

beforeEach(async () => {
  made = makeHome();
  paths = await makeTeam(made, { members: [{ name: "reviewer" }] });
});

afterEach(() => {
  fs.rmSync(made.root, { recursive: true, force: true });
});

interface Options {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

function troupe(argv: readonly string[], { env = {}, input = "" }: Options = {}) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [bundleScript(path.join(root, "src/bin.ts")), ...argv],
    {
      cwd: made.project,
      env: { ...process.env, TROUPE_HOME: made.home, ...env },
      input,
      encoding: "utf8",
      timeout: 60_000,
    },
  );
  return { status, stdout, stderr };
}

function start(argv: readonly string[]): ChildProcess & { stdout: NonNullable<ChildProcess["stdout"]> } {
  return spawn(process.execPath, [bundleScript(path.join(root, "src/bin.ts")), ...argv], {
    cwd: made.project,
    env: { ...process.env, TROUPE_HOME: made.home },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

describe("the process", () => {
  it("tells its version without loading anything", () => {
    expect(troupe(["--version"])).toEqual({ status: 0, stdout: "0.0.0-source\n", stderr: "" });
  });

  it("tells a failure in one line and what to do in the next, and exits with its code", () => {
    expect(troupe(["send", "reviwer", "x"])).toEqual({
      status: 4,
      stdout: "",
      stderr: 'troupe: no member named "reviwer" in team demo\n  did you mean reviewer?\n',
    });
    expect(troupe(["nothing"])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/^troupe: .*\n {2}.*\n$/),
    });
    expect(troupe(["send", "reviewer", "x", "--wait", "seen", "--timeout", "10ms"])).toMatchObject({
      status: 3,
    });
  });

  it("tells a failure as JSON on stdout with --json, whichever parser read the line", () => {
    for (const [argv, code, status] of [
      [["send", "reviwer", "x", "--json"], "no-member", 4],
      [["status", "reviwer", "--json"], "no-member", 4],
      [["send", "--json", "--bad"], "usage", 2],
    ] as const) {
      const run = troupe(argv);
      expect(run).toMatchObject({ status, stderr: "" });
      expect(JSON.parse(run.stdout)).toMatchObject({ error: { code, message: expect.any(String) } });
    }
    expect(troupe(["send", "nobody", "--", "--json"]).stdout).toBe("");
  });

  it("shows a stack only on request", () => {
    fs.rmSync(paths.members, { recursive: true });
    fs.writeFileSync(paths.members, "");
    const plain = troupe(["send", "reviewer", "x"]);
    expect(plain).toMatchObject({ status: 1, stdout: "" });
    expect(plain.stderr).not.toMatch(/^ {4}at /m);
    expect(troupe(["send", "reviewer", "x"], { env: { TROUPE_DEBUG: "1" } }).stderr).toMatch(/^ {4}at /m);
  });

  it.each([
    ["a file", "/dev/null"],
    ["below a file", "/dev/null/home"],
  ])("says in one line that TROUPE_HOME is %s", (_, home) => {
    const run = troupe(["send", "reviewer", "x"], { env: { TROUPE_HOME: home } });
    expect(run).toMatchObject({ status: 1, stderr: expect.stringContaining("it is not a directory") });
  });

  it("refuses on Windows itself, whatever it was asked for, in one sentence, and touches nothing", () => {
    const windows = path.join(made.root, "windows.cjs");
    fs.writeFileSync(windows, 'Object.defineProperty(process, "platform", { value: "win32" });');
    const env = { NODE_OPTIONS: `--require ${windows}`, TROUPE_HOME: path.join(made.root, "fresh") };
    for (const argv of [["up"], ["send", "reviewer", "x"]])
      expect(troupe(argv, { env })).toEqual({
        status: 1,
        stdout: "",
        stderr: "troupe: does not run on Windows itself; run it inside WSL (Windows Subsystem for Linux)\n",
      });
    expect(fs.existsSync(env.TROUPE_HOME)).toBe(false);
  });

  it("leaves nothing where there is no team", () => {
    const home = path.join(made.root, "fresh");
    for (const argv of [["send", "reviewer", "x"], ["inbox"], ["status"]])
      expect(troupe(argv, { env: { TROUPE_HOME: home } }).status).toBe(4);
    expect(fs.existsSync(home)).toBe(false);
  });

  it("reads text from stdin, also past a pipe that is slow to fill", async () => {
    expect(troupe(["send", "reviewer", "-"], { input: "from a pipe" }).status).toBe(0);
    const mailbox = openMailbox(mailboxOf(paths, "reviewer"));
    expect(mailbox.peek().messages.map(({ message }) => message.text)).toEqual(["from a pipe"]);
  });

  it("ends quietly when the reader of its output has gone, and takes no mail then", async () => {
    for (let i = 0; i < 4; i++) troupe(["send", "user", "-"], { input: "x".repeat(200_000) });
    const child = start(["inbox"]);
    child.stdout.destroy();
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
    expect(openMailbox(mailboxOf(paths, "user")).counts()).toMatchObject({ new: 4, cur: 0, done: 0 });
  });

  it("fails when its output cannot be written, and takes no mail then", () => {
    if (!fs.existsSync("/dev/full")) return;
    troupe(["send", "user", "x"]);
    const full = fs.openSync("/dev/full", "w");
    const { status, stderr } = spawnSync(
      process.execPath,
      [bundleScript(path.join(root, "src/bin.ts")), "inbox", "--json"],
      {
        cwd: made.project,
        env: { ...process.env, TROUPE_HOME: made.home },
        stdio: ["ignore", full, "pipe"],
        encoding: "utf8",
      },
    );
    fs.closeSync(full);
    expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining("ENOSPC") });
    expect(openMailbox(mailboxOf(paths, "user")).counts()).toMatchObject({ new: 1, cur: 0 });
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("ends with the code of %s, a command with clean-up too", async (signal, expected) => {
    fs.mkdirSync(path.join(paths.run, "72657669"), { recursive: true });
    fs.writeFileSync(path.join(paths.run, "72657669/output.log"), "a line\n");
    const child = start(["logs", "reviewer", "--follow"]);
    await once(child.stdout, "data");
    child.kill(signal);
    expect(await once(child, "exit")).toEqual([expected, null]);
  });

  it("leaves what a killed reader had taken to the next one", async () => {
    const child = start(["inbox", "--follow"]);
    troupe(["send", "user", "first"]);
    await once(child.stdout, "data");
    child.kill("SIGTERM");
    await once(child, "exit");
    troupe(["send", "user", "second"]);
    expect(troupe(["inbox"]).stdout).toMatch(/ {2}second\n/);
    expect(openMailbox(mailboxOf(paths, "user")).counts()).toMatchObject({ new: 0, cur: 0, done: 2 });
  });
});

describe("the command's own file", () => {
  it("holds none of the heavy libraries", async () => {
    const { metafile } = await build({
      absWorkingDir: root,
      entryPoints: ["src/bin.ts"],
      bundle: true,
      platform: "node",
      format: "cjs",
      write: false,
      metafile: true,
      logLevel: "error",
      plugins: [
        {
          name: "lazy",
          setup(builder) {
            builder.onResolve({ filter: /^\./ }, ({ kind, path: file }) =>
              kind === "dynamic-import" ? { path: file, external: true } : undefined,
            );
          },
        },
      ],
    });
    const packages = Object.keys(metafile.inputs).flatMap(
      (file) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? [],
    );
    expect([...new Set(packages)].sort()).toEqual(["canonicalize", "uuid"]);
    const builtins = Object.values(metafile.outputs).flatMap(({ imports }) =>
      imports.map(({ path: name }) => name),
    );
    expect(builtins).not.toContain("node:child_process");
  });
});
