import fs from "node:fs";
import path from "node:path";
import { errnoOf, TroupeError } from "../src/util/errors.js";
import { canonicalJson } from "./canonical.js";
import { listRoom, messageFile } from "./layout.js";
import { type Message, parseMessage } from "./message.js";
import { readContent } from "./message-file.js";
import { isLinkRefused, underRenameLock } from "./rename-lock.js";

/** A stored message. `duplicate`: it was there already, so that a repeat changed nothing. */
export interface Stored {
  readonly id: string;
  readonly duplicate: boolean;
}

/** How to get a complete file into `new/`: a hard link where the file system has them, else a rename under a lock. */
export interface PlaceOptions {
  /** `link(2)`; a parameter so that the other way can be exercised on any file system. */
  readonly link?: (from: string, to: string) => void;
}

/**
 * Puts the complete file `source` into `new/` of mailbox `dir` as message `id`, whose content is `bytes`; never overwrites.
 * `source` stays or is used up: remove it afterwards. Gives `busy` where another sender is storing the same id right
 * now, and `refused` where links do not work and `source` lies outside this mailbox, so that it has to be copied first.
 * Throws TroupeError `id-taken` if another message has this id, and system errors.
 */
export function placeMessage(
  dir: string,
  id: string,
  source: string,
  bytes: Buffer,
  options: PlaceOptions = {},
): Stored | "busy" | "refused" {
  const { link = fs.linkSync } = options;
  const target = path.join(dir, "new", messageFile(id));
  for (let attempt = 0; attempt < 3; attempt++) {
    const existing = findStored(dir, id);
    if (existing !== undefined) return duplicateOf(existing, dir, id, bytes);
    try {
      link(source, target);
      return { id, duplicate: false };
    } catch (error) {
      if (errnoOf(error) === "EEXIST") continue;
      if (!isLinkRefused(error)) throw error;
      if (path.dirname(source) !== path.join(dir, "tmp")) return "refused";
      return placeByRename(dir, id, source, bytes);
    }
  }
  return "busy";
}

function placeByRename(dir: string, id: string, source: string, bytes: Buffer): Stored | "busy" {
  return underRenameLock(path.join(dir, "new", `.lock-${id}`), () => {
    const existing = findStored(dir, id);
    if (existing !== undefined) return duplicateOf(existing, dir, id, bytes);
    fs.renameSync(source, path.join(dir, "new", messageFile(id)));
    return { id, duplicate: false };
  });
}

function duplicateOf(existing: Buffer, dir: string, id: string, bytes: Buffer): Stored {
  if (existing.equals(bytes) || meaningOf(existing, id) === meaningOf(bytes, id))
    return { id, duplicate: true };
  throw new TroupeError("id-taken", `the mailbox ${dir} holds another message with the id ${id}`, {
    remedy: "send it with a new id",
  });
}

/**
 * The content stored under `id`, in the order in which files move; empty where the name is taken by something that is
 * no file. A message that is put back meanwhile may be missed: its recipient then drops the second copy.
 */
function findStored(dir: string, id: string): Buffer | undefined {
  const claimed = () => listRoom(dir, "cur").filter((name) => name.startsWith(`${id}~`));
  for (const room of ["new", "cur", "done"] as const)
    for (const name of room === "cur" ? claimed() : [messageFile(id)]) {
      const file = path.join(dir, room, name);
      // Asked first: an open that fails costs ten times as much as the answer that there is nothing to open.
      if (fs.lstatSync(file, { throwIfNoEntry: false }) === undefined) continue;
      const content = readContent(file);
      if (content.type === "bytes") return content.bytes;
      if (content.type === "bad") return Buffer.alloc(0);
      if (content.type === "unreadable") throw content.error;
    }
  return undefined;
}

/**
 * What a repeat with the same id must have in common with the first: all but the time, and the seal over it. Undefined for what
 * is no message, or holds a number beyond JSON's range, which nobody can repeat.
 */
function meaningOf(bytes: Buffer, id: string): string | undefined {
  const parsed = parseMessage(bytes, messageFile(id));
  if (parsed.type !== "message") return undefined;
  const { sentAt, seal, ...rest }: Message = parsed.message;
  try {
    return canonicalJson(rest);
  } catch {
    return undefined;
  }
}
