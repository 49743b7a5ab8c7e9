import path from "node:path";
import { errnoOf, messageOf, TroupeError } from "../src/util/errors.js";
import { delay } from "../src/util/wait.js";
import { syncDirectory, syncDirectorySync, writeDraft, writeDraftSync } from "./draft.js";
import { createGate, createGroupCommit, type Gate } from "./gate.js";
import { checkMailbox, mailboxError } from "./layout.js";
import { encodeMessage, type Message } from "./message.js";
import { removeLeftover } from "./message-file.js";
import { type PlaceOptions, placeMessage, type Stored } from "./place.js";
import { maxTries, pauseMs, pauseSync } from "./rename-lock.js";

/** Puts messages into one mailbox. Messages become visible in the order of the calls, awaited or not. */
export interface Sender {
  /** Stores `message` durably. */
  send(message: Message): Promise<Stored>;
  /** As `send`, with the content in a file that exists already, or will: it is linked, or copied where links fail. */
  sendShared(id: string, bytes: Buffer, file: Promise<string>): Promise<Stored>;
}

/** How many files and how many directories may be on their way to the disk at once; each holds a descriptor open. */
export interface DiskGates {
  readonly drafts: Gate;
  readonly directories: Gate;
}

/** As many of each as keep the disk busy: the threads that Node waits with are four. */
export function createDiskGates(): DiskGates {
  return { drafts: createGate(8), directories: createGate(8) };
}

/**
 * A queue of messages into the mailbox `dir`. Errors of `send`: TroupeError `bad-message`, `no-mailbox`, `id-taken`,
 * `not-stored`, or `maybe-stored` (kind `not-reached`), after which sending it again with the same id settles the matter. Sends in flight share
 * the fsync of the directory. Senders that are used together share `gates`.
 */
export function createSender(
  dir: string,
  options: PlaceOptions = {},
  gates: DiskGates = createDiskGates(),
): Sender {
  checkMailbox(dir);
  const writeCopy = (id: string, bytes: Buffer) =>
    gates.drafts(() => writeDraft(path.join(dir, "tmp"), id, bytes));
  const commit = createGroupCommit(() => gates.directories(() => syncDirectory(path.join(dir, "new"))));
  let last: Promise<unknown> = Promise.resolve();

  async function store(id: string, bytes: Buffer, source: Promise<string>, shared: boolean): Promise<Stored> {
    const turn = Promise.allSettled([last, source]).then(async () => {
      const file = await source;
      try {
        return await place(id, file, bytes);
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
      return store(message.id, bytes, writeCopy(message.id, bytes), false);
    },
    sendShared: (id, bytes, file) => store(id, bytes, file, true),
  };

  async function place(id: string, file: string, bytes: Buffer): Promise<Stored> {
    for (let tries = maxTries; ; tries--) {
      const placed = placeMessage(dir, id, file, bytes, options);
      if (placed === "refused") return placeCopy(id, bytes);
      if (placed !== "busy") return placed;
      if (tries === 0) throw busy(dir, id);
      await delay(pauseMs);
    }
  }

  async function placeCopy(id: string, bytes: Buffer): Promise<Stored> {
    const copy = await writeCopy(id, bytes);
    try {
      return await place(id, copy, bytes);
    } finally {
      removeLeftover(copy);
    }
  }
}

/**
 * Stores one message durably, blocking: for a process that does nothing else. Errors as in {@link createSender}.
 */
export function storeMessageSync(dir: string, message: Message, options: PlaceOptions = {}): Stored {
  checkMailbox(dir);
  const stored = placeBytesSync(dir, message.id, encodeMessage(message), undefined, options);
  makeDurableSync(dir, message.id);
  return stored;
}

/**
 * The first half of {@link storeMessageSync}: the message is in `new/`, but durable only after {@link makeDurableSync}. With the
 * content also in the file `shared`, that is linked where links work.
 */
export function placeBytesSync(
  dir: string,
  id: string,
  bytes: Buffer,
  shared?: string,
  options: PlaceOptions = {},
): Stored {
  try {
    return placeSync(dir, id, shared, bytes, options);
  } catch (error) {
    throw sendError(dir, id, error);
  }
}

/** The second half: makes durable that message `id` is in the mailbox `dir`. Throws TroupeError `maybe-stored` (kind `not-reached`). */
export function makeDurableSync(dir: string, id: string): void {
  try {
    syncDirectorySync(path.join(dir, "new"));
  } catch (error) {
    throw maybeStored(dir, id, error);
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
    for (let tries = maxTries; ; tries--) {
      const placed = placeMessage(dir, id, file, bytes, options);
      if (placed === "refused") return placeSync(dir, id, undefined, bytes, options);
      if (placed !== "busy") return placed;
      if (tries === 0) throw busy(dir, id);
      pauseSync();
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
    { kind: "not-reached", remedy: "send it again with the same id; it will not arrive twice", cause },
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
