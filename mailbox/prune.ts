import fs from "node:fs";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { errnoOf } from "../src/util/errors.js";
import { listIfExists } from "../src/util/fs.js";
import { descriptionFile, mailboxError } from "./layout.js";
import { removeLeftover } from "./message-file.js";

const hour = 3_600_000;
const day = 24 * hour;

/** How long seen mail is kept: at most `maxAgeMs` and `maxCount`, but each message at least `minAgeMs`. */
export const retention = { maxAgeMs: 7 * day, maxCount: 1000, minAgeMs: day, draftMs: hour } as const;

/**
 * Removes seen mail beyond {@link retention}, and what killed senders left in `tmp/` (and as locks in `new/`) more than an
 * hour ago. A seen message's age counts from when it was acknowledged: until it is pruned, a repeat is recognised. However
 * much there is, it works in short slices and needs little memory. Rejects with TroupeError `mailbox-unreadable`, or with
 * the signal's reason on abort, which leaves the rest for the next time.
 */
export async function pruneMailbox(dir: string, now = Date.now(), signal?: AbortSignal): Promise<void> {
  try {
    await pruneSeen(path.join(dir, "done"), now, signal);
    await eachFile(path.join(dir, "tmp"), now, removeDraft, signal);
    await eachFile(path.join(dir, "new"), now, removeDraft, signal, (name) => name.startsWith(".lock-"));
  } catch (error) {
    if (signal?.aborted) throw error;
    throw mailboxError(dir, error);
  }
}

/** How long a pruned mailbox is left as it is. */
export const pruneEveryMs = 600_000;

/**
 * As {@link pruneMailbox}, but nothing where this function did it in the last {@link pruneEveryMs}, or the mailbox is as new: for
 * who comes often and stays briefly. The time of `mailbox.json` says when that was.
 */
export async function pruneIfDue(dir: string, now = Date.now(), signal?: AbortSignal): Promise<void> {
  const stamp = path.join(dir, descriptionFile);
  try {
    // Both ways: a clock that was put back leaves times of the future.
    if (Math.abs(now - fs.lstatSync(stamp).mtimeMs) < pruneEveryMs) return;
    fs.lutimesSync(stamp, now / 1000, now / 1000);
  } catch (error) {
    throw mailboxError(dir, error);
  }
  await pruneMailbox(dir, now, signal);
}

/** Removes files in `directory` that are older than an hour; nothing if there is no such directory. */
export function pruneDrafts(directory: string, now = Date.now()): void {
  for (const name of listIfExists(directory)) {
    const file = path.join(directory, name);
    const age = ageOf(file, now);
    if (age !== undefined) removeDraft(file, age);
  }
}

function removeDraft(file: string, age: number): void {
  if (age > retention.draftMs) removeLeftover(file);
}

/** Looks at all files first, since only then it is known which are the newest, and keeps no more than their ages. */
async function pruneSeen(directory: string, now: number, signal: AbortSignal | undefined): Promise<void> {
  const { maxAgeMs, maxCount, minAgeMs } = retention;
  let oldest = 0;
  let youngest: number[] = [];
  const keepYoungest = () => {
    youngest = youngest.sort((a, b) => a - b).slice(0, maxCount + 1);
  };
  const note = (_file: string, age: number) => {
    oldest = Math.max(oldest, age);
    if (youngest.push(age) > 4 * maxCount) keepYoungest();
  };
  await eachFile(directory, now, note, signal);
  keepYoungest();
  const tooMany = youngest.length > maxCount;
  if (oldest <= minAgeMs || (oldest <= maxAgeMs && !tooMany)) return;
  const limit = Math.max(minAgeMs, Math.min(maxAgeMs, tooMany ? (youngest[maxCount - 1] ?? 0) : maxAgeMs));
  const remove = (file: string, age: number) => {
    if (age > limit) removeLeftover(file);
  };
  await eachFile(directory, now, remove, signal);
}

/** How many files are looked at in one turn of the event loop. */
const slice = 200;

/** Calls `visit` for every file in `directory` whose name is wanted, and lets the event loop turn between slices. */
async function eachFile(
  directory: string,
  now: number,
  visit: (file: string, age: number) => void,
  signal: AbortSignal | undefined,
  wanted = (_name: string) => true,
): Promise<void> {
  const entries = openIfExists(directory);
  if (entries === undefined) return;
  try {
    for (let looked = 1; ; looked++) {
      const entry = entries.readSync();
      if (entry === null) return;
      const file = path.join(directory, entry.name);
      const age = wanted(entry.name) ? ageOf(file, now) : undefined;
      if (age !== undefined) visit(file, age);
      if (looked % slice !== 0) continue;
      await nextTurn();
      signal?.throwIfAborted();
    }
  } finally {
    entries.closeSync();
  }
}

function openIfExists(directory: string): fs.Dir | undefined {
  try {
    return fs.opendirSync(directory, { bufferSize: slice });
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** How long ago `file` was last renamed (ctime), which its sender cannot set; undefined if it is gone. */
function ageOf(file: string, now: number): number | undefined {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  const age = now - stat.ctimeMs;
  // A clock that was ahead left it a time in the future: its age counts from now on, or it would stay until then.
  if (age < -hour) renewTime(file, stat);
  return Math.max(0, age);
}

/** Sets a file's ctime, which nothing can set directly, to the present. */
function renewTime(file: string, { atime, mtime }: fs.Stats): void {
  try {
    fs.lutimesSync(file, atime, mtime);
  } catch {
    // It stays longer than it need.
  }
}
