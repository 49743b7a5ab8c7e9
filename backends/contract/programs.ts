import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { waitUntil } from "../../src/util/wait.js";
import { outputLogOf } from "../output-log.js";
import { listProcesses } from "../process-table.js";
import { readExit } from "../records.js";
import { refusal } from "./starts.js";
import { argv, type Checks, patienceMs, scout } from "./trial.js";

/** What a program gets, and what is kept of it. */
export const programs: Checks = {
  async "gives a program its arguments, environment and directory, byte for byte"({ dir, started }) {
    const file = path.join(dir, "seen.json");
    const cwd = path.join(dir, "dir with 'quotes' and #{pid} %d");
    fs.mkdirSync(cwd);
    const big = "x".repeat(131_000);
    const env: Record<string, string> = {
      PATH: process.env["PATH"] ?? "",
      ...Object.fromEntries(awkward.map((value, index) => [`AWKWARD_${index}`, value])),
      BIG: big,
      "odd.name": "1",
      "BASH_FUNC_f%%": "() { :; }",
      UID: "4711",
      PPID: "1",
      OPTIND: "x",
      LC_ALL: "xx_YY",
      IFS: "a",
    };
    await started({ ...node(tell, file, ...awkward, big), env, cwd });
    const seen = await waitUntil("the report", () => readSeen(file), { timeoutMs: patienceMs });
    const { TROUPE_RUN_ID, TERM, PWD, ...rest } = seen.env;
    assert.equal(PWD, cwd);
    assert.match(TROUPE_RUN_ID ?? "", /^[0-9a-f]{16}$/);
    assert.doesNotMatch(TERM ?? "", /\n/);
    assert.deepEqual(rest, env);
    assert.deepEqual(seen.argv, [...awkward, big]);
    assert.equal(seen.cwd, fs.realpathSync(cwd));
  },

  async "leaves no secret where others can read it"({ started }) {
    const secret = randomBytes(8).toString("hex");
    await started({ env: { PATH: process.env["PATH"] ?? "", SECRET: secret } });
    assert.deepEqual(
      commandLines().filter((line) => line.includes(secret)),
      [],
    );
  },

  async "records how the program ended"({ executor, started }) {
    const ends = [
      ["sleep 1; exit 7", { exitCode: 7, signal: null }],
      ["sleep 1; kill -KILL $$", { exitCode: null, signal: "SIGKILL" }],
    ] as const;
    for (const [script, expected] of ends) {
      const { ref } = await started(argv("/bin/sh", "-c", script));
      const record = await waitUntil("the exit record", () => readExit(ref.runDir), {
        timeoutMs: patienceMs,
      });
      const { at, ...end } = record;
      assert.deepEqual(end, expected);
      assert.ok(Date.parse(at) > 0, `no time: ${at}`);
      await executor.kill(scout);
    }
  },

  async "tells what the program showed before it failed"({ executor, config }) {
    const fails = config(argv("/bin/sh", "-c", "echo no licence found >&2; exit 4"));
    assert.match(refusal(await executor.spawn(fails), "exited").screen, /no licence found/);
  },

  async "keeps what a program shows in output.log"({ started }) {
    const { ref } = await started(argv("/bin/sh", "-c", "echo one; echo two"));
    const log = outputLogOf(ref.runDir);
    const isWhole = () => textOf(log).replaceAll("\r", "") === "one\ntwo\n";
    await waitUntil("the log", isWhole, { timeoutMs: patienceMs });
    assert.equal(fs.statSync(log).mode & 0o777, 0o600);
  },

  async "is not kept from ending a program by what that puts into its run directory"(trial) {
    const { executor, config, leftNothing } = trial;
    const made = config();
    const { runDir } = made;
    const files = ["launch.sh", "exit.json", "ready.json", "output.log"].join(" ");
    // Not before its start is known: a ready record that goes at once is a program that never was ready.
    const harm = `sleep 1; cd "$1"; rm -f ${files}; mkdir ${files}; touch launch.sh/x exit.json/x; echo >done; exec sleep 300`;
    const result = await executor.spawn({ ...made, ...argv("/bin/sh", "-c", harm, "harm", runDir) });
    assert.ok(result.ok, "it was not started");
    const isDone = () => fs.existsSync(path.join(runDir, "done"));
    await waitUntil("the harm", isDone, { timeoutMs: patienceMs });
    assert.equal((await executor.capture?.(scout, 5)) ?? "", "");
    const killed = await executor.kill(scout);
    assert.notEqual(killed.ended.length, 0);
    assert.deepEqual(killed.survivors, []);
    assert.equal(await executor.isActive(scout), "gone");
    await leftNothing();
  },
};

/** Values that shells and terminals read something into. */
const awkward = [
  "",
  "a b",
  "it's",
  '"',
  "$HOME `id` \\",
  "two\nlines",
  ";",
  "x;",
  "-n",
  "😀 Ω",
  "#{pid}",
  "%d",
  "\u001b[0m",
  "\t",
];

/** Writes down, into the file of its first argument, how it was started. */
const tell = `
const [file, ...argv] = process.argv.slice(1);
import("node:fs").then(({ realpathSync, writeFileSync }) =>
  writeFileSync(file, JSON.stringify({ env: process.env, argv, cwd: realpathSync(".") })));`;

function node(code: string, ...rest: readonly string[]) {
  return argv(process.execPath, "-e", code, "--", ...rest);
}

/** What a program told of its start; undefined while there is nothing, or a part. */
function readSeen(file: string): { env: Record<string, string>; argv: string[]; cwd: string } | undefined {
  try {
    return JSON.parse(textOf(file));
  } catch {
    return undefined;
  }
}

/** The arguments of every process that can be seen. */
function commandLines(): string[] {
  if (process.platform === "linux") return listProcesses().map(({ pid }) => textOf(`/proc/${pid}/cmdline`));
  return execFileSync("ps", ["-axww", "-o", "args="], { encoding: "utf8", timeout: 10_000 }).split("\n");
}

/** A file's text, empty where it cannot be read. */
function textOf(file: string): string {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
