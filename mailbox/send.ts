import path from "node:path";
import { errnoOf, messageOf, TroupeError } from "../src/util/errors.js";
import { delay } from "../src/util/wait.js";
import { syncDirectory, syncDirectorySync, writeDraft, writeDraftSync } from "./draft.js";
import { createGate, createGroupCommit } from "./gate.js";
import { checkMailbox, mailboxError } from "./layout.js";
import { encodeMessage, type Message } from "./message.js";
import { removeLeftover } from "./message-file.js";
import { lockMs, type PlaceOptions, placeMessage, type Stored } from "./place.js";

/** Puts messages into one mailbox. Messages become visible in the order of the calls, awaited or not. */
export interface Sender {
  /** Stores `message` durably. */
  send(message: Message): Promise<Stored>;
  /** As `send`, with the content in a file that exists already, or will: it is linked, or copied where links fail. */
  sendShared(id: string, bytes: Buffer, file: Promise<string>): Promise<Stored>;
}

/** How many messages of one sender may be on their way to the disk at once. */
const inFlight = 8;

/**
 * A queue of messages into the mailbox `dir`. Errors of `send`: TroupeError `bad-message`, `no-mailbox`, `id-taken`,
 * `not-stored`, or `maybe-stored`, after which sending it again with the same id settles the matter. Sends in flight share
 * the fsync of the directory.
 */
export function createSender(dir: string, options: PlaceOptions = {}): Sender {
  checkMailbox(dir);
  const gate = createGate(inFlight);
  const commit = createGroupCommit(() => syncDirectory(path.join(dir, "new")));
  let last: Promise<unknown> = Promise.resolve();

  async function store(id: string, bytes: Buffer, source: Promise<string>, shared: boolean): Promise<Stored> {
    const turn = Promise.allSettled([last, source]).then(async () => {
      const file = await source;
      try {
        return await place(dir, id, file, bytes, options);
      } finally {
        if (!shared) removeLeftover(file);
      }
    });
    last = turn;
    try {
      const stored = await turn;
      await commit().catch((error) => Promise.reject(maybeStored(dir, id, error)));
      return stored;
    } catch (error) {
      throw sendError(dir, id, error);
    }
  }

  return {
    async send(message) {
      const bytes = encodeMessage(message);
      const draft = gate(() => writeDraft(path.join(dir, "tmp"), message.id, bytes));
      return store(message.id, bytes, draft, false);
    },
    sendShared: (id, bytes, file) => store(id, bytes, file, true),
  };
}

/**
 * Stores one message durably, blocking: for a process that does nothing else. Errors as in {@link createSender}.
 */
export function storeMessageSync(dir: string, message: Message, options: PlaceOptions = {}): Stored {
  checkMailbox(dir);
  const bytes = encodeMessage(message);
  return storeBytesSync(dir, message.id, bytes, undefined, options);
}

/** As {@link storeMessageSync}, with the content also in the file `shared`, which is linked where that works. */
export function storeBytesSync(
  dir: string,
  id: string,
  bytes: Buffer,
  shared?: string,
  options: PlaceOptions = {},
): Stored {
  try {
    const stored = placeSync(dir, id, shared, bytes, options);
    try {
      syncDirectorySync(path.join(dir, "new"));
    } catch (error) {
      throw maybeStored(dir, id, error);
    }
    return stored;
  } catch (error) {
    throw sendError(dir, id, error);
  }
}

async function place(
  dir: string,
  id: string,
  file: string,
  bytes: Buffer,
  options: PlaceOptions,
): Promise<Stored> {
  for (const deadline = Date.now() + 2 * lockMs; ; ) {
    const placed = placeMessage(dir, id, file, bytes, options);
    if (placed === "refused") return withCopy(dir, id, bytes, (copy) => place(dir, id, copy, bytes, options));
    if (placed !== "busy") return placed;
    if (Date.now() > deadline) throw busy(dir, id);
    await delay(20);
  }
}

async function withCopy(
  dir: string,
  id: string,
  bytes: Buffer,
  work: (copy: string) => Promise<Stored>,
): Promise<Stored> {
  const copy = await writeDraft(path.join(dir, "tmp"), id, bytes);
  try {
    return await work(copy);
  } finally {
    removeLeftover(copy);
  }
}

function placeSync(
  dir: string,
  id: string,
  shared: string | undefined,
  bytes: Buffer,
  options: PlaceOptions,
): Stored {
  const file = shared ?? writeDraftSync(path.join(dir, "tmp"), id, bytes);
  try {
    for (const deadline = Date.now() + 2 * lockMs; ; ) {
      const placed = placeMessage(dir, id, file, bytes, options);
      if (placed === "refused") return placeSync(dir, id, undefined, bytes, options);
      if (placed !== "busy") return placed;
      if (Date.now() > deadline) throw busy(dir, id);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  } finally {
    if (shared === undefined) removeLeftover(file);
  }
}

/** A failure to store message `id` in `dir`, as it is told to the sender. */
export function sendError(dir: string, id: string, error: unknown): TroupeError {
  if (error instanceof TroupeError) return error;
  const code = errnoOf(error) ?? "";
  if (code === "ENOENT" || code === "ENOTDIR") return mailboxError(dir, error);
  return new TroupeError("not-stored", `message ${id} was not stored in ${dir}: ${messageOf(error)}`, {
    remedy: remedies[code] ?? "mend what the message says, then send it again with the same id",
    cause: error,
  });
}

function maybeStored(dir: string, id: string, cause: unknown): TroupeError {
  return new TroupeError(
    "maybe-stored",
    `message ${id} is in ${dir}, but was not made durable: ${messageOf(cause)}`,
    { remedy: "send it again with the same id; it will not arrive twice", cause },
  );
}

function busy(dir: string, id: string): TroupeError {
  return new TroupeError("not-stored", `message ${id} is being stored in ${dir} by another process`, {
    remedy: "send it again with the same id",
  });
}

const remedies: Readonly<Record<string, string>> = {
  ENOSPC: "make room on the disk, then send it again with the same id",
  EDQUOT: "make room within the quota, then send it again with the same id",
  EMFILE: "raise the limit of open files (ulimit -n), then send it again with the same id",
};
