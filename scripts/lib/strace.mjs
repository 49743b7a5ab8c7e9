import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";

/** System calls that change files or can fail for want of a resource; of each family the ones that this system has. */
export const faultyCalls = [
  "openat",
  "read",
  "write",
  "fsync",
  "fdatasync",
  "mkdir",
  "link",
  "linkat",
  "rename",
  "renameat",
  "renameat2",
  "unlink",
  "unlinkat",
];

/** Why strace cannot be used here, or undefined. */
export function straceProblem() {
  if (process.platform !== "linux") return "strace is for Linux";
  const { status, error, stderr } = spawnSync("strace", ["-f", "-o", "/dev/null", "true"], {
    encoding: "utf8",
  });
  if (error) return "strace is not installed: apt-get install strace";
  return status === 0 ? undefined : `strace cannot trace here: ${stderr.trim()}`;
}

/**
 * Runs `argv` under strace once without faults and gives the calls of its main thread that concern a file below `home` or
 * one of the three standard streams: which call it is, and the how-manieth of its kind.
 * @param {readonly string[]} argv
 * @param {{ env: object, home: string, log: string, until?: Ending }} options
 * @returns {Promise<{ call: string, nth: number }[]>}
 */
export async function countCalls(argv, { env, home, log, until }) {
  await runTraced(["-y", "-o", log, "-e", `trace=?${faultyCalls.join(",?")}`], argv, { env, until });
  const lines = fs.readFileSync(log, "utf8").split("\n");
  const main = /^\d+/.exec(lines[0] ?? "")?.[0];
  const counts = new Map();
  const found = [];
  for (const line of lines) {
    const [, pid, call, rest] = /^(\d+)\s+(\w+)\((.*)/.exec(line) ?? [];
    if (pid !== main || call === undefined) continue;
    const nth = (counts.get(call) ?? 0) + 1;
    counts.set(call, nth);
    if (rest.includes(home) || /^[012]</.test(rest)) found.push({ call, nth });
  }
  return found;
}

/**
 * Runs `argv` with one fault: `SIGKILL` before, or an error instead of, the `nth` call of its kind. `struck` tells whether
 * it came to that call.
 * @param {readonly string[]} argv
 * @param {{ call: string, nth: number, fault: string }} injection
 * @param {{ env: object, log: string, until?: Ending }} options
 */
export async function runWithFault(argv, { call, nth, fault }, { log, ...options }) {
  const kills = fault === "SIGKILL";
  const what = kills ? `signal=${fault}` : `error=${fault}`;
  const filter = ["-o", log, "-e", `trace=${call}`, "-e", `inject=${call}:${what}:when=${nth}`];
  const result = await runTraced(filter, argv, options);
  const struck = kills
    ? result.signal === "SIGKILL" && !result.stuck
    : fs.readFileSync(log, "utf8").includes("(INJECTED)");
  return { ...result, struck };
}

/** @typedef {(stdout: string) => boolean} Ending says from the output so far whether to end the program with SIGTERM */

/** How long one run may take before it counts as stuck. */
const deadlineMs = 30_000;

/**
 * @param {readonly string[]} argv
 * @param {{ env: object, until?: Ending }} options
 * @returns {Promise<{ exitCode: number | null, signal: string | null, stdout: string, stderr: string, stuck: boolean }>}
 */
export function run([program, ...args], { env, until }) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    const result = { stdout: "", stderr: "", stuck: false };
    // All of it: strace keeps SIGTERM to itself, and killed it would let go of its program.
    const signalGroup = (signal) => process.kill(-child.pid, signal);
    const timer = setTimeout(() => {
      result.stuck = true;
      signalGroup("SIGKILL");
    }, deadlineMs);
    child.stdout.on("data", (data) => {
      result.stdout += data;
      if (until?.(result.stdout)) signalGroup("SIGTERM");
    });
    child.stderr.on("data", (data) => {
      result.stderr += data;
    });
    child.on("error", reject);
    child.on("close", (exitCode, signal) => {
      clearTimeout(timer);
      resolve({ exitCode, signal, ...result });
    });
  });
}

/** strace ends as its program did: with its exit code, or of the signal that killed it. */
function runTraced(options, argv, rest) {
  // Without --seccomp-bpf, with which no signal is injected.
  return run(["strace", "-f", "-qq", ...options, "--", ...argv], rest);
}
