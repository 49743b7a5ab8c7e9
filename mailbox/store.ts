import path from "node:path";
import { ensureDir, readTextIfExists, writeJsonAtomic } from "../src/util/fs.js";
import { type ProcessIdentity, selfIdentity } from "../src/util/process-identity.js";
import { type Claim, createClaims } from "./claim.js";
import { syncDirectory } from "./draft.js";
import { checkMailbox, descriptionFile, protocolVersion, rooms } from "./layout.js";
import type { Message } from "./message.js";
import { type Counts, countMail, type MailRoom, type Peek, peekMailbox } from "./peek.js";
import type { Stored } from "./place.js";
import { receiptOf } from "./receipts.js";
import { createSender } from "./sender.js";

/**
 * One mailbox. Claims are made in the name of this process and are its own until it acknowledges them, releases them or
 * ends; several processes may read one mailbox, but within a process only one reader at a time should.
 */
export interface Mailbox {
  readonly dir: string;
  /**
   * Stores a message durably; messages become visible in the order of the calls. Errors: TroupeError `bad-message`, `no-mailbox`,
   * `id-taken`, `not-stored`, or `maybe-stored`, after which sending it again with the same id settles the matter.
   */
  send(message: Message): Promise<Stored>;
  /**
   * Takes what waits, oldest first: first what readers that ended have left (unless `takeOver` is false), then new mail.
   * Blocks while it works. A message is given to one claim only, but again to
   * a later one if its claimant ends without acknowledging it. What goes wrong with single files is in `problems`.
   * Throws TroupeError `no-mailbox` or `mailbox-unreadable` before anything is taken.
   */
  claim(limit?: number, takeOver?: boolean): Claim;
  /** As `claim`, of nothing but the file in `new/` with this name, without listing the directory; empty if it is not there. */
  claimNamed(file: string): Claim;
  /**
   * Marks claimed messages as seen. Gives the ids that this process has not claimed (and that have not been seen).
   * Throws TroupeError `mail-not-moved` after it has tried them all; a repeat is harmless.
   */
  acknowledge(ids: readonly string[]): readonly string[];
  /** Puts claimed messages back for the next reader; without `ids` all that this process holds here. Errors as above. */
  release(ids?: readonly string[]): void;
  /** Reads mail without claiming it, by default what has not been seen yet. */
  peek(from?: readonly MailRoom[]): Peek;
  counts(): Counts;
  /** Whether a message with this id is here, in any state. */
  has(id: string): boolean;
}

/** What a mailbox can be opened with: the process in whose name to claim, by default this one. */
export interface OpenMailboxOptions {
  readonly self?: ProcessIdentity;
}

/** Creates the mailbox `dir` and its missing parents; one that exists is left as it is. */
export async function createMailbox(dir: string): Promise<void> {
  for (const room of rooms) await ensureDir(path.join(dir, room));
  // Last, since this file makes it a mailbox for senders.
  const description = path.join(dir, descriptionFile);
  if (readTextIfExists(description) !== undefined) return;
  await writeJsonAtomic(description, { v: 1, protocol: protocolVersion });
  await syncDirectory(dir);
}

/** Opens the mailbox `dir`. Throws TroupeError `no-mailbox` (kind `not-found`), `mailbox-version` or `mailbox-unreadable`. */
export function openMailbox(dir: string, options: OpenMailboxOptions = {}): Mailbox {
  checkMailbox(dir);
  return {
    dir,
    send: createSender(dir).send,
    ...createClaims(dir, () => options.self ?? selfIdentity()),
    peek: (from = ["new", "cur"]) => peekMailbox(dir, from),
    counts: () => countMail(dir),
    has: (id) => receiptOf(dir, id) !== "unknown",
  };
}
