import { liveness, type ProcessIdentity } from "../src/util/process-identity.js";
import { delay } from "../src/util/wait.js";
import { findLaunchProblem } from "./preflight.js";
import { earlyFailure, readExit, readReady } from "./records.js";
import { type SpawnFailure, spawnAborted, spawnFailure, spawnLate } from "./spawn-failure.js";
import type { TeammateSpawnConfig } from "./types.js";

export interface ProofOptions {
  /** The process of the terminal in which the launch script runs, if known: its end before the ready record is a failure. */
  readonly terminal?: ProcessIdentity;
  /** How long an end with a failure still makes the spawn a failed one, in milliseconds. */
  readonly settleMs: number;
}

/** How often records are looked for, in milliseconds. */
const everyMs = 5;

/** At every how many looks at them the terminal is looked at, which costs more. */
const terminalLooks = 8;

/**
 * Waits for the records that a launch script writes, up to the `deadlineMs` of `config` from this call on: gives the process at
 * the root of the teammate's tree once its program was started and did not fail at once, or what a failed spawn is told with
 * (its screen is left to the caller). Never rejects.
 */
export async function proofOfLife(
  config: TeammateSpawnConfig,
  { terminal, settleMs }: ProofOptions,
  signal?: AbortSignal,
): Promise<ProcessIdentity | SpawnFailure> {
  const { runDir, deadlineMs } = config;
  const wait = () => delay(everyMs, signal).catch(() => undefined);
  const deadline = performance.now() + deadlineMs;
  let ready: ProcessIdentity | undefined;
  let gone = false;
  for (let look = 0; ready === undefined; ) {
    if (signal?.aborted) return spawnAborted(signal);
    if (performance.now() >= deadline) return spawnLate(deadlineMs);
    ready = readReady(runDir);
    if (ready !== undefined) break;
    // The record can stand a moment before it is seen that its writer has ended, never the other way round.
    if (gone || readExit(runDir) !== undefined) return refused(config);
    gone = terminal !== undefined && look++ % terminalLooks === 0 && liveness(terminal) === "gone";
    if (!gone) await wait();
  }
  for (const settled = performance.now() + settleMs; performance.now() < settled; await wait()) {
    if (signal?.aborted) return spawnAborted(signal);
    const end = readExit(runDir);
    if (end === undefined) continue;
    const early = earlyFailure(end);
    return early === undefined ? ready : spawnFailure(early.code, early.reason);
  }
  return ready;
}

/** The script ended before it could start the program. */
function refused(config: TeammateSpawnConfig): SpawnFailure {
  const problem = findLaunchProblem(config);
  if (problem !== undefined) return spawnFailure(problem.code, problem.reason);
  return spawnFailure("backend-failed", "the terminal ended before the program was started");
}
