import fs from "node:fs";
import path from "node:path";
import { errnoOf, TroupeError } from "../src/util/errors.js";
import { ensureDir, ensureDirSync, listIfExists } from "../src/util/fs.js";
import { fileNameOf } from "../src/util/name-key.js";
import { writeDraft, writeDraftSync } from "./draft.js";
import { checkMailbox, descriptionFile } from "./layout.js";
import { encodeMessage, type Message } from "./message.js";
import { removeLeftover } from "./message-file.js";
import type { PlaceOptions, Stored } from "./place.js";
import { pruneDrafts } from "./prune.js";
import { makeDurableSync, placeBytesSync, sendError } from "./send.js";
import { createDiskGates, createSender, type Sender } from "./sender.js";

/** How a broadcast went for one recipient. */
export type Outcome =
  | { readonly name: string; readonly ok: true; readonly duplicate: boolean }
  | { readonly name: string; readonly ok: false; readonly error: TroupeError };

/**
 * Mailboxes by name, under one directory. `deliver` rejects as `Mailbox.send` does; a name without mailbox is
 * TroupeError `no-mailbox` (kind `not-found`). `broadcast` never rejects for a recipient: it tells the outcome of each,
 * in the order of `names`. What one router is given for one recipient arrives in that order.
 */
export interface Router {
  deliver(name: string, message: Message): Promise<Stored>;
  broadcast(names: readonly string[], message: Message): Promise<readonly Outcome[]>;
  /** As `deliver`, blocking, for a process that does nothing else. */
  deliverSync(name: string, message: Message): Stored;
  /** As `broadcast`, blocking. */
  broadcastSync(names: readonly string[], message: Message): readonly Outcome[];
  /** The directory of a member's mailbox, whether it exists or not. */
  mailboxOf(name: string): string;
  /** The keys of all names that have a mailbox, sorted. */
  names(): readonly string[];
}

/** Opens the mailboxes under `mailRoot` for sending. Creates nothing until the first broadcast. */
export function openRouter(mailRoot: string, options: PlaceOptions = {}): Router {
  const senders = new Map<string, Sender>();
  const gates = createDiskGates();
  const outgoing = path.join(mailRoot, ".out");
  const mailboxOf = (name: string) => path.join(mailRoot, fileNameOf(name));

  function check(name: string): string {
    const dir = mailboxOf(name);
    checkMailbox(dir, `of ${JSON.stringify(name)}`);
    return dir;
  }

  function senderTo(name: string): Sender {
    const dir = check(name);
    const sender = senders.get(dir) ?? createSender(dir, options, gates);
    senders.set(dir, sender);
    return sender;
  }

  return {
    deliver: async (name, message) => senderTo(name).send(message),
    deliverSync(name, message) {
      const dir = check(name);
      const stored = placeBytesSync(dir, message.id, encodeMessage(message), undefined, options);
      makeDurableSync(dir, message.id);
      return stored;
    },

    async broadcast(names, message) {
      const bytes = encodeMessage(message);
      const file = ensureDir(outgoing).then(() => writeDraft(outgoing, message.id, bytes));
      try {
        return await Promise.all(
          names.map((name) =>
            outcomeOf(name, async () => senderTo(name).sendShared(message.id, bytes, file)),
          ),
        );
      } finally {
        await file.then(removeLeftover, () => undefined);
        tidy(outgoing);
      }
    },

    broadcastSync(names, message) {
      const bytes = encodeMessage(message);
      let file: string;
      try {
        ensureDirSync(outgoing);
        file = writeDraftSync(outgoing, message.id, bytes);
      } catch (error) {
        return names.map((name) => failureOf(name, sendError(outgoing, message.id, error)));
      }
      try {
        const place = (name: string) => placeBytesSync(check(name), message.id, bytes, file, options);
        const placed = names.map((name) => outcomeOfSync(name, () => place(name)));
        // All of them first: a file system with a journal then writes them at the first fsync.
        return placed.map((outcome) => {
          if (!outcome.ok) return outcome;
          return outcomeOfSync(outcome.name, () => {
            makeDurableSync(mailboxOf(outcome.name), message.id);
            return outcome;
          });
        });
      } finally {
        removeLeftover(file);
        tidy(outgoing);
      }
    },

    mailboxOf,
    names: () => namesUnder(mailRoot),
  };
}

async function outcomeOf(name: string, store: () => Promise<Stored>): Promise<Outcome> {
  try {
    const { duplicate } = await store();
    return { name, ok: true, duplicate };
  } catch (error) {
    return failureOf(name, error);
  }
}

function outcomeOfSync(name: string, store: () => { readonly duplicate: boolean }): Outcome {
  try {
    const { duplicate } = store();
    return { name, ok: true, duplicate };
  } catch (error) {
    return failureOf(name, error);
  }
}

function failureOf(name: string, error: unknown): Outcome {
  if (error instanceof TroupeError) return { name, ok: false, error };
  throw error;
}

/** Removes what killed senders left; a failure costs nothing but their space until the next time. */
function tidy(outgoing: string): void {
  try {
    pruneDrafts(outgoing);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
  }
}

function namesUnder(mailRoot: string): string[] {
  return listIfExists(mailRoot)
    .filter((name) => fs.existsSync(path.join(mailRoot, name, descriptionFile)))
    .map(decodeKey)
    .sort();
}

/** The key that `encodeKey` made `encoded` from. */
function decodeKey(encoded: string): string {
  const bytes = encoded.replace(/%([0-9a-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, "latin1").toString("utf8");
}
