import { spawn } from "node:child_process";
import { messageOf, TroupeError } from "../../util/errors.js";
import { isHeld, readLock } from "../../util/lock.js";
import { sameProcess } from "../../util/process-identity.js";
import { delay } from "../../util/wait.js";
import { endAbandoned } from "../abandoned.js";
import type { LocatedTeam } from "../locate.js";
import type { TeamPaths } from "../paths.js";
import { type HostRecord, readHostRecord } from "../records.js";
import { connectHost } from "./client.js";
import { logEvent } from "./host-log.js";

/**
 * Starts the guard of a team: a small process of its own that outlives a host killed without warning. Without it, other
 * programs and what agents started would go on for ever. `onFailed` is told if it cannot be started.
 */
export function launchGuard(
  troupe: readonly string[],
  team: LocatedTeam,
  orphanTimeoutMs: number,
  env: Readonly<Record<string, string | undefined>>,
  onFailed: (error: Error) => void,
): void {
  const [program = process.execPath, ...args] = troupe;
  const child = spawn(program, [...args, "guard", team.paths.root, String(orphanTimeoutMs)], {
    detached: true,
    stdio: "ignore",
    cwd: "/",
    env: { ...env, TROUPE_HOME: team.paths.home },
  });
  child.on("error", onFailed);
  child.unref();
}

/** How often a guard looks whether somebody else has seen to what a dead host left. */
const lookMs = 500;

/**
 * Watches the host of a team until it ends. After an orderly end there is nothing to do; if the host died, waits the orphan
 * timeout for another host to take over, then ends what the dead one left. What cannot be ended goes into the host's log.
 */
export async function guardTeam(
  team: LocatedTeam,
  options: {
    readonly orphanTimeoutMs: number;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { paths } = team;
  const guarded = readHostRecord(paths);
  const host = await connectHost(paths, options.signal);
  await host?.closed;
  const deadline = Date.now() + options.orphanTimeoutMs;
  // The record of an orderly end is written before the socket closes.
  while (!isOver(paths, guarded)) {
    const left = deadline - Date.now();
    if (left <= 0) {
      await endAbandoned(team, { env: options.env }).catch((error: unknown) => tellLog(paths, error));
      return;
    }
    await delay(Math.min(left, lookMs), options.signal);
  }
}

/** Nobody hears a guard; who looks for what became of the team finds it there. */
function tellLog(paths: TeamPaths, error: unknown): void {
  const remedy = error instanceof TroupeError && error.remedy !== undefined ? `; ${error.remedy}` : "";
  const text = `the guard, after the host's death: ${messageOf(error)}${remedy}`;
  logEvent(paths.hostLog, { at: new Date().toISOString(), type: "notice", level: "warning", text });
}

/**
 * Whether nothing is left to guard: the team has ended, somebody else has taken it over, or its files are gone. A host that
 * is being killed loses its connections before its process is gone: that it holds the lock still says nothing.
 */
function isOver(paths: TeamPaths, guarded: HostRecord | undefined): boolean {
  const record = readHostRecord(paths);
  if (guarded === undefined || record === undefined || record.endedAt !== undefined) return true;
  const lock = readLock(paths.lock);
  const taken = lock !== undefined && isHeld(lock) && !sameProcess(lock.owner, guarded.process);
  return taken || !sameProcess(record.process, guarded.process);
}
