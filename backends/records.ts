import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { errnoOf } from "../src/util/errors.js";
import { writeJsonAtomic } from "../src/util/fs.js";
import { identityOrEnded, type ProcessIdentity, selfIdentity } from "../src/util/process-identity.js";
import type { ExitRecord } from "./types.js";

/**
 * The process at the root of a teammate's tree, as its ready record tells, or undefined before there is one. The
 * process may have ended since. A record counts once its line is whole.
 */
export function readReady(runDir: string): ProcessIdentity | undefined {
  const record = readRecord(path.join(runDir, "ready.json"));
  if (record === undefined || typeof record.value["pid"] !== "number") return undefined;
  const { pid, startTime } = record.value;
  if (typeof startTime !== "string" || startTime === "") return identityOrEnded(pid);
  const { bootId, pidNamespace } = selfIdentity();
  return { pid, startTime, bootId, pidNamespace };
}

/**
 * How the teammate of this run directory ended, or undefined while it has not (or was killed together with its
 * script). A terminal knows only a shell's status there: 128 + n is told as the end by signal n.
 */
export function readExit(runDir: string): ExitRecord | undefined {
  const record = readRecord(path.join(runDir, "exit.json"));
  if (record === undefined) return undefined;
  const { status, exitCode, signal } = record.value;
  if (typeof status === "number") return { ...fromStatus(status), at: record.at };
  return {
    exitCode: typeof exitCode === "number" ? exitCode : null,
    signal: typeof signal === "string" ? signal : null,
    at: record.at,
  };
}

/** Writes the exit record of a teammate whose process the host itself waited for. */
export async function writeExit(runDir: string, end: Omit<ExitRecord, "at">): Promise<void> {
  await writeRecord(path.join(runDir, "exit.json"), { v: 1, exitCode: end.exitCode, signal: end.signal });
}

/** Writes the ready record of a teammate whose process was not started by a launch script. */
export async function writeReady(runDir: string, { pid, startTime }: ProcessIdentity): Promise<void> {
  await writeRecord(path.join(runDir, "ready.json"), { v: 1, pid, startTime });
}

/**
 * What an end so soon after the start means: nothing for exit code 0, else a spawn that failed. `not-started`: the
 * codes 126 and 127, by which shells and env(1) say that there was nothing to run.
 */
export function earlyFailure(
  end: Omit<ExitRecord, "at">,
): { readonly code: "exited" | "not-started"; readonly reason: string } | undefined {
  const { exitCode, signal } = end;
  if (exitCode === 0) return undefined;
  if (exitCode === 126 || exitCode === 127)
    return { code: "not-started", reason: `the program could not be started (exit code ${exitCode})` };
  const how = signal === null ? `with exit code ${exitCode}` : `by ${signal}`;
  return { code: "exited", reason: `the program ended at once ${how}` };
}

/** Removes the records of an earlier start in the same directory. */
export function clearRecords(runDir: string): void {
  for (const name of ["ready.json", "exit.json"])
    fs.rmSync(path.join(runDir, name), { recursive: true, force: true });
}

/** The name of signal `number` on this platform. */
export function signalName(number: number): string | undefined {
  return Object.entries(os.constants.signals).find(([, value]) => value === number)?.[0];
}

function fromStatus(status: number): { exitCode: number | null; signal: string | null } {
  const signal = status > 128 ? signalName(status - 128) : undefined;
  return signal === undefined ? { exitCode: status, signal: null } : { exitCode: null, signal };
}

async function writeRecord(file: string, record: object): Promise<void> {
  try {
    await writeJsonAtomic(file, record);
  } catch (error) {
    if (errnoOf(error) !== "EISDIR") throw error;
    // The teammate has put a directory there.
    await fs.promises.rm(file, { recursive: true, force: true });
    await writeJsonAtomic(file, record);
  }
}

function readRecord(file: string): { value: Record<string, unknown>; at: string } | undefined {
  try {
    // Asked first, since it is asked over and over: an open that fails costs ten times as much.
    const stats = fs.statSync(file, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    const text = fs.readFileSync(file, "utf8");
    if (!text.endsWith("\n")) return undefined;
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || !("v" in value) || value.v !== 1) return undefined;
    return { value: { ...value }, at: stats.mtime.toISOString() };
  } catch (error) {
    // A teammate can put anything into its own run directory, a directory of that name too: what is no record is none.
    if (errnoOf(error) !== undefined || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
