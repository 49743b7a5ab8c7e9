import { messageOf } from "../src/util/errors.js";
import type { TeammateSpawnResult } from "./types.js";

export type SpawnFailure = Extract<TeammateSpawnResult, { ok: false }>;

/** A spawn that did not succeed; `screen` is what the teammate showed, printable already. */
export function spawnFailure(code: string, reason: string, screen = ""): SpawnFailure {
  return { ok: false, code, reason, screen };
}

/** A spawn that its caller gave up. */
export function spawnAborted(signal: AbortSignal | undefined): SpawnFailure {
  return spawnFailure("aborted", `the start was given up: ${messageOf(signal?.reason)}`);
}

/** A spawn without proof of life in time. */
export function spawnLate(deadlineMs: number, screen = ""): SpawnFailure {
  return spawnFailure("deadline", `no sign of life within ${deadlineMs} ms`, screen);
}
