import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { paddings } from "./fault-pad.cjs";
import { parseTrace } from "./strace-log.mjs";

/** System calls that change files or look at them, in the names that this or another system has for them. */
export const faultyCalls = [
  ...["openat", "read", "pread64", "write", "pwrite64", "writev", "fsync", "fdatasync", "mkdir", "mkdirat"],
  ...["link", "linkat", "rename", "renameat", "renameat2", "unlink", "unlinkat"],
  ...["access", "faccessat", "faccessat2", "statx"],
];

/** What can be done to a call: the process is killed before it, or it fails. */
export const faults = ["SIGKILL", "ENOSPC", "EIO", "EMFILE", "EACCES"];

/**
 * What to run. With `pads` it is a program for Node, whose threads are told apart.
 * @typedef {object} Program
 * @property {readonly string[]} argv
 * @property {NodeJS.ProcessEnv} env
 * @property {string} [input] for its stdin
 * @property {boolean} [pads]
 * @property {(stdout: string) => boolean} [until] says from the output so far whether to end it with SIGTERM
 */

/**
 * @typedef {object} Ending
 * @property {number | null} exitCode
 * @property {string | null} signal
 * @property {string} stdout
 * @property {string} stderr
 * @property {boolean} stuck it had to be killed, since it did not end in time
 */

/**
 * One call of a program, told apart from its others: the `nth` that `thread` makes with `call` after the program was
 * padded (see fault-pad.cjs). `place` counts only those that concern its own files, so that it says the same elsewhere.
 * `stream` is set where it
 * concerns one of the three standard streams.
 * @typedef {{ thread: "main" | "pool", call: string, nth: number, place: number, stream?: number }} Call
 */

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
 * Runs a program without faults and gives its calls, of the main thread and of the thread pool, that concern a file below
 * `home` or one of the three standard streams.
 * @param {Program} program
 * @param {{ home: string, log: string }} options
 * @returns {Promise<Call[]>}
 */
export async function countCalls(program, { home, log }) {
  const traced = await traceCalls(program, log);
  const [main] = traced.map(({ thread }) => thread);
  const streamOf = (/** @type {string} */ args) => /^([012])</.exec(args)?.[1];
  const concerns = (/** @type {import("./strace-log.mjs").TracedCall} */ { args }) =>
    args.includes(`${home}/`) || streamOf(args) !== undefined;
  const pool = traced.find((call) => call.thread !== main && concerns(call))?.thread;
  const counts = new Map();
  /** @type {Call[]} */
  const calls = [];
  const count = (key) => counts.set(key, (counts.get(key) ?? 0) + 1).get(key);
  for (const call of traced) {
    const thread = call.thread === main ? "main" : call.thread === pool ? "pool" : undefined;
    if (thread === undefined) continue;
    const nth = count(`${thread} ${call.call}`) + (program.pads ? paddings[thread] : 0);
    if (!concerns(call)) continue;
    const stream = streamOf(call.args);
    const place = count(`${thread} ${call.call} here`);
    calls.push({ thread, call: call.call, nth, place, ...(stream && { stream: Number(stream) }) });
  }
  return calls;
}

/**
 * Runs a program with one fault. `struck` tells whether it came to the call.
 * @param {Program} program
 * @param {Call & { fault: string }} injection
 * @param {string} log
 */
export async function runWithFault(program, { thread, call, nth, fault }, log) {
  const kills = fault === "SIGKILL";
  const what = kills ? `signal=${fault}` : `error=${fault}`;
  const options = ["-o", log, "-e", `trace=${call}`, "-e", `inject=${call}:${what}:when=${nth}`];
  const result = await runTraced(options, program, `${thread}:${call}`);
  const traced = fs.readFileSync(log, "utf8");
  return { ...result, struck: traced.includes(kills ? "+++ killed by SIGKILL +++" : "(INJECTED)") };
}

/**
 * Runs a program and gives all its calls of the kinds above.
 * @param {Program} program
 * @param {string} log
 */
export async function traceCalls(program, log) {
  await runTraced(["-y", "-s", "400", "-o", log, "-e", `trace=?${faultyCalls.join(",?")}`], program, "");
  return parseTrace(fs.readFileSync(log, "utf8"));
}

/** How long one run may take before it counts as stuck. */
const deadlineMs = 30_000;

/**
 * @param {Program} program
 * @returns {Promise<Ending>}
 */
export function run({ argv: [file = "", ...args], env, input, until }) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { env, stdio: "pipe", detached: true });
    const result = { stdout: "", stderr: "", stuck: false };
    const timer = setTimeout(() => {
      result.stuck = true;
      signalGroup(child.pid, "SIGKILL");
    }, deadlineMs);
    // What it waits for may happen without a word on stdout.
    const looks = setInterval(() => {
      if (!until?.(result.stdout)) return;
      clearInterval(looks);
      signalGroup(child.pid, "SIGTERM");
    }, 10);
    child.stdout.on("data", (data) => {
      result.stdout += data;
    });
    child.stderr.on("data", (data) => {
      result.stderr += data;
    });
    // It may end before it has read everything.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
    child.on("error", reject);
    child.on("close", (exitCode, signal) => {
      clearTimeout(timer);
      clearInterval(looks);
      resolve({ exitCode, signal, ...result });
    });
  });
}

/**
 * Signals all of it: strace keeps SIGTERM to itself, and killed it would let go of its program.
 * @param {number | undefined} pid
 * @param {NodeJS.Signals} signal
 */
function signalGroup(pid, signal) {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "ESRCH") throw error;
  }
}

const pad = path.join(import.meta.dirname, "fault-pad.cjs");

/**
 * strace ends as its program did: with its exit code, or of the signal that killed it.
 * @param {readonly string[]} options
 * @param {Program} program
 * @param {string} padding
 */
function runTraced(options, { argv: [file = "", ...args], env, pads, ...rest }, padding) {
  const strace = ["strace", "-f", "-q", ...options, "--", file];
  // Without --seccomp-bpf, with which no signal is injected.
  if (!pads) return run({ ...rest, env, argv: [...strace, ...args] });
  return run({
    ...rest,
    argv: [...strace, "--require", pad, ...args],
    env: { ...env, UV_THREADPOOL_SIZE: "1", TROUPE_FAULT_PAD: padding },
  });
}
