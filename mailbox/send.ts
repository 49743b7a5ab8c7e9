import path from "node:path";
import { errnoOf, messageOf, TroupeError } from "../src/util/errors.js";
import { syncDirectorySync, writeDraftSync } from "./draft.js";
import { checkMailbox, mailboxError } from "./layout.js";
import { encodeMessage, type Message } from "./message.js";
import { removeLeftover } from "./message-file.js";
import { type PlaceOptions, placeMessage, type Stored } from "./place.js";
import { maxTries, pauseSync } from "./rename-lock.js";

/**
 * Stores one message durably, blocking: for a process that does nothing else. Throws TroupeError `bad-message`, `no-mailbox`, `id-taken`, `not-stored`, or
 * `maybe-stored` (kind `not-reached`), after which sending it again with the same id settles the matter.
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

/** The failure of a message whose file is in place and not durable. */
export function maybeStored(dir: string, id: string, cause: unknown): TroupeError {
  return new TroupeError(
    "maybe-stored",
    `message ${id} is in ${dir}, but was not made durable: ${messageOf(cause)}`,
    { kind: "not-reached", remedy: "send it again with the same id; it will not arrive twice", cause },
  );
}

/** The failure of a message that another process holds the rename lock of. */
export function busy(dir: string, id: string): TroupeError {
  return new TroupeError("not-stored", `message ${id} is being stored in ${dir} by another process`, {
    remedy: "send it again with the same id",
  });
}

const remedies: Readonly<Record<string, string>> = {
  ENOSPC: "make room on the disk, then send it again with the same id",
  EDQUOT: "make room within the quota, then send it again with the same id",
  EMFILE: "raise the limit of open files (ulimit -n), then send it again with the same id",
};
