import fs from "node:fs";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { delay } from "../src/util/wait.js";
import { idOfFile, listRoom, messageFile, parseClaimFile } from "./layout.js";
import { isUnchanged, type Look, lookAt } from "./look.js";
import type { Message } from "./message.js";
import { readMessageFile } from "./message-file.js";
import { type MailRoom, mailRooms } from "./peek.js";

/**
 * How far a message got: `stored`, `delivered` to a running process, `seen`; `bad` if it was put aside as no message;
 * `unknown` if it is not there (never was, or was pruned after it had been seen).
 */
export type Receipt = "stored" | "delivered" | "seen" | "bad" | "unknown";

/** Where message `id` is in the mailbox `dir`. Changes nothing. Throws TroupeError `no-mailbox` or `mailbox-unreadable`. */
export function receiptOf(dir: string, id: string): Receipt {
  const file = messageFile(id);
  // In the order in which files move, and twice: a file can be put back behind the one who looks.
  for (let look = 0; look < 2; look++) {
    if (isThere(path.join(dir, "new", file))) return "stored";
    if (listRoom(dir, "cur").some((name) => name.startsWith(`${id}~`))) return "delivered";
    if (isThere(path.join(dir, "done", file))) return "seen";
    if (listRoom(dir, "bad").some((name) => name === file || name.startsWith(`${file}~`))) return "bad";
  }
  return "unknown";
}

/** The receipts that can be waited for. */
export type AwaitedReceipt = "stored" | "delivered" | "seen";

/**
 * Waits until message `id` got at least as far as `wanted`, at most `timeoutMs`, and gives the receipt it has then: compare.
 * Ends early where it is `bad`. Rejects with the signal's reason on abort.
 */
export async function waitForReceipt(
  dir: string,
  id: string,
  wanted: AwaitedReceipt,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Receipt> {
  const reached = (receipt: Receipt) => receipt === "bad" || order.indexOf(receipt) >= order.indexOf(wanted);
  return poll(() => receiptOf(dir, id), reached, timeoutMs, signal);
}

/**
 * Waits for a message in the mailbox `dir` (the asker's) that answers message `id`, at most `timeoutMs`; undefined if none
 * came. It is only looked at, not claimed, and not asked who it is from. Rejects as {@link waitForReplies}.
 */
export async function waitForReply(
  dir: string,
  id: string,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Message | undefined> {
  const [reply] = await waitForReplies(dir, id, ({ length }) => length > 0, timeoutMs, signal);
  return reply;
}

/**
 * Waits until the answers to message `id` in the mailbox `dir` (the asker's) are enough, at most `timeoutMs`, and gives them,
 * each once, those found later behind. They are only looked at, not claimed. A look reads files a slice at a time
 * and ends with the slice in which the time is over, so that neither waits for a large mailbox. `isEnough` is asked
 * after each look. Throws TroupeError `no-mailbox` or `mailbox-unreadable`; rejects with the signal's reason on abort.
 */
export async function waitForReplies(
  dir: string,
  id: string,
  isEnough: (replies: readonly Message[]) => boolean,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<readonly Message[]> {
  const deadline = performance.now() + timeoutMs;
  const replies: Message[] = [];
  const read = new Set<string>();
  const seen = new Map<MailRoom, Look | undefined>();
  return poll(look, isEnough, timeoutMs, signal);

  async function look(): Promise<readonly Message[]> {
    const found: Message[] = [];
    try {
      await readNews(found);
    } finally {
      replies.push(...found.sort((a, b) => (a.id < b.id ? -1 : 1)));
    }
    return replies;
  }

  /** Reads what it has not read yet, in the rooms that have changed: the newest first, as answers are. */
  async function readNews(into: Message[]): Promise<void> {
    for (const room of mailRooms) {
      const now = lookAt(path.join(dir, room));
      if (isUnchanged(seen.get(room), now)) continue;
      seen.set(room, now);
      for (const name of listRoom(dir, room).sort().reverse()) {
        const found = room === "cur" ? parseClaimFile(name)?.id : idOfFile(name);
        if (found === undefined || read.has(found)) continue;
        const content = readMessageFile(path.join(dir, room, name), found);
        if (content.type === "message" && content.message.inReplyTo === id) into.push(content.message);
        if (content.type === "unreadable") seen.delete(room);
        else if (content.type !== "missing") read.add(found);
        if (read.size % slice !== 0) continue;
        await nextTurn();
        signal?.throwIfAborted();
        if (performance.now() >= deadline) return;
      }
    }
  }
}

/** How many messages are read in one turn of the event loop. */
const slice = 100;

const order: readonly Receipt[] = ["unknown", "stored", "delivered", "seen"];

async function poll<T>(
  look: () => T | Promise<T>,
  isEnough: (found: T) => boolean,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (let pause = 5; ; pause = Math.min(pause * 1.5, 100)) {
    signal?.throwIfAborted();
    const found = await look();
    const left = deadline - performance.now();
    if (isEnough(found) || left <= 0) return found;
    await delay(Math.min(pause, left), signal);
  }
}

function isThere(file: string): boolean {
  return fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}
