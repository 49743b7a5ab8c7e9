import fs from "node:fs";
import path from "node:path";
import { errnoOf, TroupeError } from "./errors.js";
import { ensureDir, listIfExists, readTextIfExists } from "./fs.js";
import { liveness, type ProcessIdentity, sameProcess, selfIdentity } from "./process-identity.js";
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
  const before = readLock(dir);
  if (before !== undefined && isHeld(before)) return undefined;
  const token = (before?.token ?? 0) + 1;
  if (!linkGeneration(dir, token)) return undefined;
  // Who stalled before linking may have made anew what later holders had pruned (they prune in ascending order), or may have
  // linked into a directory that was made anew since, where somebody else holds the number before.
  if (highest(dir) !== token || (token > 1 && !wasGivenUp(dir, token - 1))) {
    fs.rmSync(generation(dir, token), { force: true });
    return undefined;
  }
  prune(dir, token);
  let held = true;
  return {
    token,
    release: () => {
      if (held) release(dir, token);
      held = false;
    },
  };
}

/** Takes the lock, waiting at most `timeoutMs`. Throws TroupeError `lock-busy` naming the holder at the deadline. */
export async function acquireLock(dir: string, timeoutMs: number, signal?: AbortSignal): Promise<Lock> {
  const deadline = performance.now() + timeoutMs;
  for (let pause = 2; ; pause = Math.min(pause * 2, 100)) {
    const lock = await tryLock(dir);
    if (lock !== undefined) return lock;
    if (performance.now() >= deadline) {
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
    const owner = readOwner(generation(dir, token));
    // Pruned between listing and reading: a newer generation exists now.
    if (owner === undefined) continue;
    return { token, owner, released: isReleased(dir, token) };
  }
}

/** Whether the lock is held by a process that runs (or cannot be looked at). */
export function isHeld(state: LockState): boolean {
  return !state.released && liveness(state.owner) !== "gone";
}

/** Whether a generation is there, and nobody's any more. */
function wasGivenUp(dir: string, token: number): boolean {
  const owner = readOwner(generation(dir, token));
  return owner !== undefined && !isHeld({ token, owner, released: isReleased(dir, token) });
}

/** Makes generation `token` ours; false if somebody else has made it, or the directory went. */
function linkGeneration(dir: string, token: number): boolean {
  const self = selfIdentity();
  const draft = path.join(dir, `.draft-${self.pid}-${process.hrtime.bigint()}`);
  try {
    fs.writeFileSync(draft, JSON.stringify({ v: 1, ...self }), { flag: "wx", mode: 0o600 });
    fs.linkSync(draft, generation(dir, token));
    return true;
  } catch (error) {
    const code = errnoOf(error);
    if (code === "EEXIST" || code === "ENOENT") return false;
    throw error;
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

function release(dir: string, token: number): void {
  const current = readLock(dir);
  // The directory may have been made anew since, and somebody else's generation may have our number.
  if (current?.token !== token || !sameProcess(current.owner, selfIdentity())) return;
  try {
    fs.writeFileSync(`${generation(dir, token)}.released`, "", { mode: 0o600 });
  } catch (error) {
    // The lock's directory went with its team: nothing is left to release.
    if (errnoOf(error) !== "ENOENT") throw error;
  }
}

/** The owner that a generation or a draft names, or undefined if there is no such file. */
function readOwner(file: string): ProcessIdentity | undefined {
  const text = readTextIfExists(file);
  if (text === undefined) return undefined;
  try {
    const { pid, startTime, bootId, pidNamespace } = JSON.parse(text);
    return { pid, startTime, bootId, pidNamespace };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // Linked files are whole; only a power loss leaves a part of one, and its owner went with it.
    return { pid: 0, startTime: "", bootId: "lost", pidNamespace: "" };
  }
}

function isReleased(dir: string, token: number): boolean {
  return fs.existsSync(`${generation(dir, token)}.released`);
}

function generation(dir: string, token: number): string {
  return path.join(dir, `${token}.json`);
}

function highest(dir: string): number {
  return Math.max(0, ...listIfExists(dir).map((name) => Number(/^(\d+)\.json$/.exec(name)?.[1] ?? 0)));
}

/**
 * Removes older generations in ascending order, and the drafts of dead processes. Generation 1 stays, so that who
 * saw an empty directory can never make it again.
 */
function prune(dir: string, token: number): void {
  const names = listIfExists(dir);
  const old = names
    .map((name) => ({ name, n: Number(/^(\d+)\.json(\.released)?$/.exec(name)?.[1] ?? Number.NaN) }))
    .filter(({ n }) => n > 1 && n < token)
    .sort((a, b) => a.n - b.n);
  for (const { name } of old) fs.rmSync(path.join(dir, name), { force: true });
  for (const name of names.filter((name) => name.startsWith(".draft-"))) {
    const owner = readOwner(path.join(dir, name));
    if (owner !== undefined && liveness(owner) === "gone") fs.rmSync(path.join(dir, name), { force: true });
  }
}
