import fs from "node:fs";
import { errnoOf } from "../src/util/errors.js";
import { removeLeftover } from "./message-file.js";

/** Whether `link(2)` failed because it does not work here, so that a rename under a lock has to do. */
export function isLinkRefused(error: unknown): boolean {
  return refusals.has(errnoOf(error) ?? "");
}

const refusals: ReadonlySet<string> = new Set([
  "EPERM",
  "ENOTSUP",
  "EOPNOTSUPP",
  "ENOSYS",
  "EMLINK",
  "EXDEV",
]);

/** How long such a lock may be held: longer than any rename takes, unless its owner was killed. */
export const lockMs = 2000;

/** How long to wait for another holder, and how often: together twice as long as it may hold the lock. */
export const pauseMs = 20;
export const maxTries = (2 * lockMs) / pauseMs;

/** Does `work` while this process alone holds the file `lock`; `busy` where another one holds it. Throws system errors. */
export function underRenameLock<T>(lock: string, work: () => T): T | "busy" {
  try {
    fs.closeSync(fs.openSync(lock, "wx", 0o600));
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    const since = fs.statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    // Both ways: a clock that was put back leaves times of the future.
    if (Math.abs(Date.now() - since) > lockMs) removeLeftover(lock);
    return "busy";
  }
  try {
    return work();
  } finally {
    removeLeftover(lock);
  }
}

/** Blocks this thread until another try is worth it. */
export function pauseSync(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
}
