import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkHome, checkModelAccess, checkNode } from "../../src/cli/doctor/machine.js";
import { memberRunDir, type TeamPaths } from "../../src/team/paths.js";
import { addMember, type MadeHome, makeHome, makeTeam } from "./made-team.js";
import { type RunOptions, runLine } from "./run-line.js";

let made: MadeHome;
let paths: TeamPaths;

beforeEach(async () => {
  made = makeHome();
  paths = await makeTeam(made, {
    members: [{ name: "reviewer" }, { name: "scout", kind: "agent", state: "working" }],
  });
});

afterEach(() => {
  fs.rmSync(made.root, { recursive: true, force: true });
});

function troupe(argv: readonly string[], options: RunOptions = {}) {
  return runLine(argv, { cwd: made.project, ...options, env: { TROUPE_HOME: made.home, ...options.env } });
}

async function runDirOf(name: string): Promise<string> {
  return memberRunDir(
    paths,
    (await addMember(paths, { name, ...(name === "scout" ? { kind: "agent" } : {}) })).incarnation,
  );
}

describe("status", () => {
  it("shows the team and its members", async () => {
    const { stdout, exitCode } = await troupe(["status"]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^demo {2}not started {2}in-process/);
    expect(stdout).toMatch(/^reviewer +idle \(waiting-mail\)/m);
    expect(stdout).toMatch(/^scout +working/m);
  });

  it("shows one, as a document too, and ends with 4 for an unknown one", async () => {
    const { stdout } = await troupe(["status", "Scout", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      team: "demo",
      host: { state: "none" },
      members: [{ name: "scout" }],
    });
    expect(await troupe(["status", "scuot"])).toMatchObject({
      exitCode: 4,
      error: { remedy: "did you mean scout?" },
    });
  });

  it("says that the host is gone and what to do", async () => {
    fs.mkdirSync(paths.lock, { recursive: true });
    const gone = { v: 1, pid: 4_194_304, startTime: "1", bootId: "another", pidNamespace: "x" };
    fs.writeFileSync(path.join(paths.lock, "1.json"), JSON.stringify(gone));
    expect((await troupe(["status"])).stdout).toMatch(/its host is gone.*`troupe down` ends them now\n$/s);
  });

  it("lets no hostile activity reach the terminal", async () => {
    await addMember(paths, {
      name: "scout",
      state: "working",
      activity: "\u001b]0;title\u0007\u001b[2Jreading",
    });
    const { stdout } = await troupe(["status"]);
    expect(stdout).toContain("reading");
    expect(stdout).not.toContain("\u001b");
  });
});

describe("logs", () => {
  it("shows a command's output, made safe", async () => {
    fs.writeFileSync(
      path.join(await runDirOf("reviewer"), "output.log"),
      "one\r\n\u001b[31mtwo\u001b[0m\nthree",
    );
    expect((await troupe(["logs", "reviewer"])).stdout).toBe("one\ntwo\nthree\n");
    const lines = (await troupe(["logs", "reviewer", "--json"])).stdout.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line).line)).toEqual(["one\r", "\u001b[31mtwo\u001b[0m", "three"]);
  });

  it("shows an agent's transcript, passing over a torn line", async () => {
    const records = [
      { v: 1, type: "user", message: { role: "user", content: "map the code" }, messageIds: [] },
      {
        v: 1,
        type: "assistant",
        model: "offline",
        stopReason: "tool_use",
        message: {
          role: "assistant",
          content: [
            { type: "text", text: "I will look." },
            { type: "tool_use", id: "t1", name: "Grep", input: { pattern: "TODO" } },
          ],
        },
      },
    ];
    const text = `${records.map((record) => JSON.stringify(record)).join("\n")}\n{"v":1,"type":"assis`;
    fs.writeFileSync(path.join(await runDirOf("scout"), "transcript.jsonl"), text);
    const { stdout } = await troupe(["logs", "scout"]);
    expect(stdout).toContain("map the code");
    expect(stdout).toContain("I will look.");
    expect(stdout).toMatch(/Grep.*TODO/);
    expect((await troupe(["logs", "scout", "--json"])).stdout.trim().split("\n")).toHaveLength(2);
  });

  it("follows until the member has ended, and gives the last of it", async () => {
    const file = path.join(await runDirOf("reviewer"), "output.log");
    fs.writeFileSync(file, "begin\n");
    const { stdout, exitCode } = await troupe(["logs", "reviewer", "--follow"], {
      onPrint(printed) {
        if (printed !== "begin\n") return;
        fs.appendFileSync(file, "mid");
        fs.appendFileSync(file, "dle\nend");
        void addMember(paths, { name: "reviewer", state: "ended", reason: "completed" });
      },
    });
    expect({ stdout, exitCode }).toEqual({ stdout: "begin\nmiddle\nend\n", exitCode: 0 });
  });

  it("shows the host's log, and says when there is nothing", async () => {
    expect(await troupe(["logs", "--host"])).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining("nothing"),
    });
    fs.writeFileSync(paths.hostLog, "started\n");
    expect((await troupe(["logs", "--host"])).stdout).toBe("started\n");
    expect(await troupe(["logs", "user"])).toMatchObject({ exitCode: 4, error: { code: "no-log" } });
  });
});

describe("doctor", () => {
  it("says what was found and would be chosen, and never what a key is", async () => {
    const env = { PATH: process.env["PATH"], ANTHROPIC_API_KEY: "sk-secret" };
    const { stdout, exitCode } = await troupe(["doctor", "--json"], { env });
    expect(exitCode).toBe(0);
    const document = JSON.parse(stdout);
    expect(document).toMatchObject({ ok: true, version: expect.any(String) });
    expect(document.machine.map(({ subject }: { subject: string }) => subject)).toEqual([
      "node",
      "home",
      "watching",
      "inotify",
      "ripgrep",
      "node-pty",
      "model",
    ]);
    expect(document.choices).toMatchObject([
      { subject: "troupe up", text: expect.stringContaining("in-process: ") },
      { subject: "troupe run", text: expect.stringContaining("in-process: ") },
    ]);
    expect(document.agents).toHaveLength(4);
    const text = (await troupe(["doctor"], { env })).stdout;
    expect(text).toContain("ANTHROPIC_API_KEY set");
    expect(stdout + text).not.toContain("sk-secret");
  });

  it("asks agent programs for their version", async () => {
    const bin = path.join(made.root, "bin");
    fs.mkdirSync(bin);
    fs.writeFileSync(path.join(bin, "claude"), '#!/bin/sh\necho "2.1.332 (Claude Code)"\n', { mode: 0o755 });
    fs.writeFileSync(path.join(bin, "codex"), "#!/bin/sh\necho broken >&2; exit 3\n", { mode: 0o755 });
    const { stdout } = await troupe(["doctor", "--json"], { env: { PATH: `${bin}:/usr/bin:/bin` } });
    expect(JSON.parse(stdout).agents).toMatchObject([
      { subject: "claude", state: "ok", version: "2.1.332" },
      { subject: "codex", state: "warning", text: expect.stringContaining("exit code 3") },
      { subject: "gemini" },
      { subject: "opencode" },
    ]);
  });

  it("ends with 1 where something keeps troupe from working", async () => {
    const file = path.join(made.root, "file");
    fs.writeFileSync(file, "");
    const { exitCode, stdout } = await troupe(["doctor"], { env: { TROUPE_HOME: file } });
    expect(exitCode).toBe(1);
    expect(stdout).toContain("is not a directory");
  });

  it("judges the machine", () => {
    expect(checkNode("20.18.9").state).toBe("problem");
    expect(checkNode("20.19.0").state).toBe("ok");
    expect(checkNode("24.1.0").state).toBe("ok");
    const fresh = path.join(made.root, "a/b");
    expect(checkHome(fresh)).toMatchObject({ state: "ok", text: expect.stringContaining("can be created") });
    expect(fs.existsSync(path.dirname(fresh))).toBe(false);
    expect(checkModelAccess({})).toMatchObject({
      state: "warning",
      remedy: expect.stringContaining("offline"),
    });
  });
});
