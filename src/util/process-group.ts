import fs from "node:fs";
import { errnoOf } from "./errors.js";
import { readStat } from "./process-identity.js";
import { delay } from "./wait.js";

/** How long a killed group may take to be gone; only a process stuck in the kernel needs longer. */
const killWaitMs = 2000;

/**
 * Whether a process group of ours still has a process that runs. Zombies do not count. Ask only about a group whose
 * leader was started by this process, and no longer after the answer was once false: the number may then be reused.
 */
export function groupRuns(pgid: number): boolean {
  if (!signalGroup(pgid, 0)) return false;
  if (process.platform !== "linux") return true;
  return fs.readdirSync("/proc").some((name) => {
    const stat = /^\d+$/.test(name) ? readStat(Number(name)) : undefined;
    return stat?.pgid === pgid && stat.state !== "Z" && stat.state !== "X";
  });
}

/** Ends a group: TERM, KILL after `graceMs`. Resolves when it is gone; false if even KILL did not end it in time. */
export async function endGroup(pgid: number, graceMs: number): Promise<boolean> {
  signalGroup(pgid, "SIGTERM");
  if (await gone(pgid, graceMs)) return true;
  signalGroup(pgid, "SIGKILL");
  return gone(pgid, killWaitMs);
}

const guarded = new Set<number>();

/** Until the returned function is called, the group is killed when this process exits. */
export function guardGroup(pgid: number): () => void {
  if (guarded.size === 0) process.on("exit", killGuarded);
  guarded.add(pgid);
  return () => {
    guarded.delete(pgid);
    if (guarded.size === 0) process.off("exit", killGuarded);
  };
}

function killGuarded(): void {
  for (const pgid of guarded) signalGroup(pgid, "SIGKILL");
}

async function gone(pgid: number, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  for (let pause = 5; groupRuns(pgid); pause = Math.min(pause * 2, 50)) {
    if (Date.now() >= deadline) return false;
    await delay(pause);
  }
  return true;
}

/** False if there is no such group. A group with a process that we may not signal exists all the same. */
function signalGroup(pgid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pgid, signal);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ESRCH") return false;
    if (code !== "EPERM") throw error;
  }
  return true;
}
