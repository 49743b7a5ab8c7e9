import fs from "node:fs";
import { errnoOf } from "./errors.js";

/**
 * One process, told apart from every later one that gets the same pid: `startTime` is in clock ticks since boot on
 * Linux (field 22 of /proc/PID/stat) and the text of `ps -o lstart` elsewhere; `bootId` and `pidNamespace` tell
 * machines, boots and containers that share a directory apart.
 */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string;
  readonly bootId: string;
  readonly pidNamespace: string;
}

/** Whether a process still runs. `unknown`: it belongs to another pid namespace, which cannot be looked into. */
export type Liveness = "alive" | "gone" | "unknown";

let own: ProcessIdentity | undefined;
let place: { bootId: string; pidNamespace: string } | undefined;

/** This process. Computed once. */
export function selfIdentity(): ProcessIdentity {
  if (own === undefined) {
    const startTime = startTimeOf(process.pid);
    if (startTime === undefined)
      throw new Error(`no start time of this process (pid ${process.pid}) can be read`);
    own = { pid: process.pid, startTime, ...here() };
  }
  return own;
}

/** The identity of the process that has `pid` now, or undefined if there is none (a zombie counts as none). */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const startTime = startTimeOf(pid);
  return startTime === undefined ? undefined : { pid, startTime, ...here() };
}

/** As {@link identityOf}; for a process that is gone already, an identity that none will ever have. */
export function identityOrEnded(pid: number): ProcessIdentity {
  return identityOf(pid) ?? { pid, startTime: "ended", ...here() };
}

/** Whether exactly this process still runs; a zombie, a recycled pid or another boot is `gone`. */
export function liveness(identity: ProcessIdentity): Liveness {
  const { bootId, pidNamespace } = here();
  if (identity.bootId !== bootId) return "gone";
  if (identity.pidNamespace !== pidNamespace) return "unknown";
  return startTimeOf(identity.pid) === identity.startTime ? "alive" : "gone";
}

/** Whether two identities are one process. */
export function sameProcess(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return (
    a.pid === b.pid &&
    a.startTime === b.startTime &&
    a.bootId === b.bootId &&
    a.pidNamespace === b.pidNamespace
  );
}

function here(): { bootId: string; pidNamespace: string } {
  place ??=
    process.platform === "linux"
      ? {
          bootId: fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(),
          pidNamespace: fs.readlinkSync("/proc/self/ns/pid"),
        }
      : { bootId: ask("sysctl", ["-n", "kern.boottime"]) ?? "", pidNamespace: "host" };
  return place;
}

/** The start time of a process that runs, or undefined where there is none or only a zombie. */
function startTimeOf(pid: number): string | undefined {
  if (process.platform !== "linux") return ask("ps", ["-o", "lstart=", "-p", String(pid)]) || undefined;
  const fields = readStat(pid);
  return fields === undefined || fields.state === "Z" || fields.state === "X" ? undefined : fields.startTime;
}

/**
 * What /proc/PID/stat tells of a process (Linux only), or undefined if there is none. `tpgid`: the group in the foreground of
 * its terminal; -1 where it has none.
 */
export function readStat(
  pid: number,
): { state: string; ppid: number; pgid: number; sid: number; tpgid: number; startTime: string } | undefined {
  let text: string;
  try {
    text = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" || code === "ESRCH") return undefined;
    throw error;
  }
  // The command name stands in parentheses and may itself hold spaces and parentheses.
  const [state = "", ppid, pgid, sid, ...rest] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [, tpgid] = rest;
  return {
    state,
    ppid: Number(ppid),
    pgid: Number(pgid),
    sid: Number(sid),
    tpgid: Number(tpgid),
    startTime: rest[15] ?? "",
  };
}

function ask(command: string, args: string[]): string | undefined {
  // Loading it costs a tenth of the start-up time of a short command, and Linux never needs it here.
  const { execFileSync } = process.getBuiltinModule("node:child_process");
  try {
    return execFileSync(command, args, {
      encoding: "utf8",
      timeout: 5000,
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch (error) {
    // ps exits with 1 where there is no such process; a missing ps is a broken system and must be heard of.
    if (errnoOf(error) === "ENOENT") throw error;
    return undefined;
  }
}
