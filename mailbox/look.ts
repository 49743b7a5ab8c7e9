import fs from "node:fs";

/** What a directory looked like: cheaper than to list it, and enough to know whether listing it again would tell anything. */
export interface Look {
  readonly ino: number;
  /** File systems use an inode number again at once. */
  readonly birthtimeMs: number;
  readonly mtimeMs: number;
  /** False while another change may fall into the same tick of the clock. */
  readonly isSettled: boolean;
}

/** What `directory` looks like now; undefined if it cannot be looked at. */
export function lookAt(directory: string): Look | undefined {
  try {
    // Numbers, though less exact than they could be: bigints make a thousand sweeps several times as dear.
    const { ino, birthtimeMs, mtimeMs } = fs.statSync(directory);
    // Both ways: a clock that was put back leaves times of the future, and no further change gets those.
    const isSettled = Math.abs(Date.now() - mtimeMs) > 1000;
    return { ino, birthtimeMs, mtimeMs, isSettled };
  } catch {
    return undefined; // what a listing then says about it is more precise
  }
}

/** Whether nothing was added, removed or renamed in the directory between two looks. */
export function isUnchanged(before: Look | undefined, now: Look | undefined): boolean {
  return now?.isSettled === true && now.mtimeMs === before?.mtimeMs && isSameDirectory(before, now);
}

export function isSameDirectory(before: Look | undefined, now: Look | undefined): boolean {
  return now?.ino === before?.ino && now?.birthtimeMs === before?.birthtimeMs;
}
