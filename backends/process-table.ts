import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { errnoOf } from "../src/util/errors.js";
import { identityOf, type ProcessIdentity, readStat, selfIdentity } from "../src/util/process-identity.js";
import { oneLine } from "../src/util/text.js";
import { runIdVariable } from "./environment.js";

export interface ProcessRow {
  readonly pid: number;
  readonly ppid: number;
  readonly pgid: number;
  /** The session's id; undefined where the platform does not tell it as a number (macOS). */
  readonly sid: number | undefined;
  /** As in a process's identity; undefined where it takes another question (macOS). */
  readonly startTime: string | undefined;
}

/** Every process that can be seen now, zombies left out. */
export function listProcesses(): ProcessRow[] {
  if (process.platform !== "linux") return listByPs();
  const rows: ProcessRow[] = [];
  for (const name of fs.readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = readStat(Number(name));
    if (stat === undefined || stat.state === "Z" || stat.state === "X") continue;
    rows.push({
      pid: Number(name),
      ppid: stat.ppid,
      pgid: stat.pgid,
      sid: stat.sid,
      startTime: stat.startTime,
    });
  }
  return rows;
}

/** One look at all processes. */
export interface ProcessTable {
  readonly rows: readonly ProcessRow[];
  /**
   * Whether a process was started with the run id in its environment. Linux only: elsewhere, and for another user's
   * process, the answer is false.
   */
  carriesRunId(pid: number, runId: string): boolean;
}

/** Looks now. */
export function readTable(): ProcessTable {
  const environments = new Map<number, string>();
  return {
    rows: listProcesses(),
    carriesRunId(pid, runId) {
      const environment = environments.get(pid) ?? environmentOf(pid);
      environments.set(pid, environment);
      return environment.includes(`\0${runIdVariable}=${runId}\0`);
    },
  };
}

let next: Promise<ProcessTable> | undefined;

/** A look that is taken after the call. Who asks in one turn of the event loop shares it: a thousand ends cost one. */
export function nextTable(): Promise<ProcessTable> {
  next ??= nextTurn().then(() => {
    next = undefined;
    return readTable();
  });
  return next;
}

/** Who a process of the table is; undefined if it has ended. The very one that the table tells of, where it can tell that. */
export function identityOfRow({ pid, startTime }: ProcessRow): ProcessIdentity | undefined {
  if (startTime === undefined) return identityOf(pid);
  const { bootId, pidNamespace } = selfIdentity();
  return { pid, startTime, bootId, pidNamespace };
}

/** A process that was started for a teammate, as its environment tells. */
export interface MarkedProcess {
  readonly identity: ProcessIdentity;
  readonly runId: string;
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * Every process with a run id and all of `variables` (by name; a value of undefined stands for any) in its environment.
 * Linux only: elsewhere none is found.
 */
export function findMarked(variables: Readonly<Record<string, string | undefined>>): MarkedProcess[] {
  if (process.platform !== "linux") return [];
  return listProcesses().flatMap((row) => {
    const environment = environmentOf(row.pid);
    const wanted = Object.entries({ ...variables, [runIdVariable]: undefined });
    const values = wanted.map(([name, value]) => [name, valueIn(environment, name, value)] as const);
    const identity = identityOfRow(row);
    if (identity === undefined || values.some(([, value]) => value === undefined)) return [];
    const found = Object.fromEntries(values) as Record<string, string>;
    return [{ identity, runId: found[runIdVariable] ?? "", variables: found }];
  });
}

/** The program and its first arguments, made printable; the pid where nothing can be read. */
export function commandOf(pid: number): string {
  const words =
    process.platform === "linux"
      ? (readProc(pid, "cmdline") ?? "").split("\0").slice(0, 6).join(" ")
      : ps(["-o", "command=", "-p", String(pid)]);
  return oneLine(words, 80) || `process ${pid}`;
}

function listByPs(): ProcessRow[] {
  return ps(["-axo", "pid=,ppid=,pgid=,stat="])
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([pid, , , state]) => pid !== "" && pid !== undefined && !state?.startsWith("Z"))
    .map(([pid, ppid, pgid]) => ({
      pid: Number(pid),
      ppid: Number(ppid),
      pgid: Number(pgid),
      sid: undefined,
      startTime: undefined,
    }));
}

function ps(args: readonly string[]): string {
  try {
    return execFileSync("ps", args, { encoding: "utf8", timeout: 5000, stdio: ["ignore", "pipe", "ignore"] });
  } catch (error) {
    // It exits with 1 where no process matches; a missing ps is a broken system and must be heard of.
    if (errnoOf(error) === "ENOENT") throw error;
    return "";
  }
}

/** Each variable between NULs; empty where it cannot be read. */
function environmentOf(pid: number): string {
  return process.platform === "linux" ? `\0${readProc(pid, "environ") ?? ""}` : "";
}

function valueIn(environment: string, name: string, wanted: string | undefined): string | undefined {
  const start = environment.indexOf(`\0${name}=`);
  if (start === -1) return undefined;
  const from = start + name.length + 2;
  const value = environment.slice(from, environment.indexOf("\0", from));
  return wanted === undefined || wanted === value ? value : undefined;
}

function readProc(pid: number, name: string): string | undefined {
  try {
    return fs.readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch (error) {
    if (["ENOENT", "ESRCH", "EACCES", "EPERM"].includes(errnoOf(error) ?? "")) return undefined;
    throw error;
  }
}
