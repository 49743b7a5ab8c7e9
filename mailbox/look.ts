import fs from "node:fs";

/** What a directory looked like: cheaper than to list it, and enough to know whether listing it again would tell anything. */
export interface Look {
  readonly identity: string;
  /** Undefined while another change may fall into the same tick of the clock. */
  readonly changedAt: bigint | undefined;
}

/** What `directory` looks like now; undefined if it cannot be looked at. */
export function lookAt(directory: string): Look | undefined {
  try {
    const { ino, birthtimeNs, mtimeNs, mtimeMs } = fs.statSync(directory, { bigint: true });
    // Both ways: a clock that was put back leaves times of the future, and no further change gets those.
    const settled = Math.abs(Date.now() - Number(mtimeMs)) > 1000;
    // File systems use an inode number again at once, so the time of birth is needed too.
    return { identity: `${ino} ${birthtimeNs}`, changedAt: settled ? mtimeNs : undefined };
  } catch {
    return undefined; // what a listing then says about it is more precise
  }
}

/** Whether nothing was added, removed or renamed in the directory between two looks. */
export function isUnchanged(before: Look | undefined, now: Look | undefined): boolean {
  return (
    now?.changedAt !== undefined && now.changedAt === before?.changedAt && now.identity === before.identity
  );
}
