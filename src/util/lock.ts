import fs from "node:fs";
import path from "node:path";
import { errnoOf, TroupeError } from "./errors.js";
import { ensureDir, listIfExists } from "./fs.js";
import { liveness, type ProcessIdentity, selfIdentity } from "./process-identity.js";
import { delay } from "./wait.js";

/** A held lock. `token` grows with every holder: a fencing token. `release` is idempotent. */
export interface Lock {
  readonly token: number;
  release(): void;
}

/** Who holds, or last held, a lock. */
export interface LockState {
  readonly token: number;
  readonly owner: ProcessIdentity;
  readonly released: boolean;
}

/**
 * Tries once to take the lock kept in directory `dir` (created if missing); undefined if a live process holds it.
 * Generation files `<n>.json`, made by link(2): n+1 may be linked only when n is released or its owner is gone; the
 * highest number holds. An owner in another pid namespace counts as alive.
 */
export async function tryLock(dir: string): Promise<Lock | undefined> {
  await ensureDir(dir);
  const self = selfIdentity();
  const draft = path.join(dir, `.draft-${self.pid}-${process.hrtime.bigint()}`);
  fs.writeFileSync(draft, JSON.stringify({ v: 1, ...self }), { flag: "wx", mode: 0o600 });
  try {
    const before = readLock(dir);
    if (before !== undefined && isHeld(before)) return undefined;
    const token = (before?.token ?? 0) + 1;
    try {
      fs.linkSync(draft, generation(dir, token));
    } catch (error) {
      if (errnoOf(error) === "EEXIST") return undefined;
      throw error;
    }
    if (highest(dir) !== token) return undefined;
    prune(dir, token);
    return { token, release: () => release(dir, token) };
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

/** Takes the lock, waiting at most `timeoutMs`. Throws TroupeError `lock-busy` naming the holder at the deadline. */
export async function acquireLock(dir: string, timeoutMs: number, signal?: AbortSignal): Promise<Lock> {
  const deadline = Date.now() + timeoutMs;
  for (let pause = 2; ; pause = Math.min(pause * 2, 100)) {
    const lock = await tryLock(dir);
    if (lock !== undefined) return lock;
    if (Date.now() >= deadline) {
      const pid = readLock(dir)?.owner.pid;
      throw new TroupeError("lock-busy", `the lock ${dir} is held by process ${pid ?? "unknown"}`, {
        remedy: "wait for that process or end it",
      });
    }
    await delay(pause, signal);
  }
}

/** Runs `work` while holding the lock; releases it on every path. */
export async function withLock<T>(
  dir: string,
  timeoutMs: number,
  work: (lock: Lock) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const lock = await acquireLock(dir, timeoutMs, signal);
  try {
    return await work(lock);
  } finally {
    lock.release();
  }
}

/** The newest generation, or undefined if the lock was never taken. Changes nothing. */
export function readLock(dir: string): LockState | undefined {
  for (;;) {
    const token = highest(dir);
    if (token === 0) return undefined;
    try {
      const { pid, startTime, bootId, pidNamespace } = JSON.parse(
        fs.readFileSync(generation(dir, token), "utf8"),
      );
      const released = fs.existsSync(`${generation(dir, token)}.released`);
      return { token, owner: { pid, startTime, bootId, pidNamespace }, released };
    } catch (error) {
      // Pruned between listing and reading: a newer generation exists now.
      if (errnoOf(error) !== "ENOENT") throw error;
    }
  }
}

/** Whether the lock is held by a process that runs (or cannot be looked at). */
export function isHeld(state: LockState): boolean {
  return !state.released && liveness(state.owner) !== "gone";
}

function release(dir: string, token: number): void {
  try {
    fs.writeFileSync(`${generation(dir, token)}.released`, "", { mode: 0o600 });
  } catch (error) {
    // The lock's directory went with its team: nothing is left to release.
    if (errnoOf(error) !== "ENOENT") throw error;
  }
}

function generation(dir: string, token: number): string {
  return path.join(dir, `${token}.json`);
}

function highest(dir: string): number {
  return Math.max(0, ...listIfExists(dir).map((name) => Number(/^(\d+)\.json$/.exec(name)?.[1] ?? 0)));
}

/** Removes older generations, newest last, so that a lister never sees a gap below the highest. */
function prune(dir: string, token: number): void {
  for (const name of listIfExists(dir)) {
    const n = Number(/^(\d+)\.json(\.released)?$/.exec(name)?.[1] ?? Number.NaN);
    if (n < token) fs.rmSync(path.join(dir, name), { force: true });
  }
}
