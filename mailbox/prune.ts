import fs from "node:fs";
import path from "node:path";
import { listIfExists } from "../src/util/fs.js";
import { mailboxError } from "./layout.js";
import { removeLeftover } from "./message-file.js";

const hour = 3_600_000;
const day = 24 * hour;

/** How long seen mail is kept: at most `maxAgeMs` and `maxCount`, but each message at least `minAgeMs`. */
export const retention = { maxAgeMs: 7 * day, maxCount: 1000, minAgeMs: day, draftMs: hour } as const;

/**
 * Removes seen mail beyond {@link retention}, and what killed senders left in `tmp/` (and as locks in `new/`) more than an
 * hour ago. A seen message's age counts from when it was acknowledged: until it is pruned, a repeat is recognised.
 * Throws TroupeError `mailbox-unreadable`.
 */
export function pruneMailbox(dir: string, now = Date.now()): void {
  try {
    const seen = aged(path.join(dir, "done"), now).sort((a, b) => a.age - b.age);
    for (const [place, { file, age }] of seen.entries())
      if (age > retention.minAgeMs && (age > retention.maxAgeMs || place >= retention.maxCount))
        removeLeftover(file);
    pruneDrafts(path.join(dir, "tmp"), now);
    pruneDrafts(path.join(dir, "new"), now, (name) => name.startsWith(".lock-"));
  } catch (error) {
    throw mailboxError(dir, error);
  }
}

/** Removes files in `directory` that are older than an hour; nothing if there is no such directory. */
export function pruneDrafts(directory: string, now = Date.now(), only = (_name: string) => true): void {
  for (const { file, age } of aged(directory, now, only)) if (age > retention.draftMs) removeLeftover(file);
}

/** The files in `directory` and how long ago each was last renamed (ctime), which its sender cannot set. */
function aged(
  directory: string,
  now: number,
  only = (_name: string) => true,
): { file: string; age: number }[] {
  return listIfExists(directory)
    .filter(only)
    .flatMap((name) => {
      const file = path.join(directory, name);
      const stat = fs.lstatSync(file, { throwIfNoEntry: false });
      return stat === undefined ? [] : { file, age: now - stat.ctimeMs };
    });
}
