import path from "node:path";
import { messageOf } from "../src/util/errors.js";
import { oneLine } from "../src/util/text.js";
import { idOfFile, listRoom, parseClaimFile, type rooms } from "./layout.js";
import type { Message } from "./message.js";
import { readMessageFile } from "./message-file.js";
import type { MailProblem } from "./problem.js";

/** The rooms that hold mail, in the order in which it moves. */
export const mailRooms = ["new", "cur", "done"] as const;

export type MailRoom = (typeof mailRooms)[number];

/** A message that was looked at, and where it was. */
export interface PeekedMessage {
  readonly message: Message;
  readonly room: MailRoom;
}

/** What a look without claiming found, oldest first. */
export interface Peek {
  readonly messages: readonly PeekedMessage[];
  readonly problems: readonly MailProblem[];
}

/** How many files each room holds, dot files and reasons left out. */
export type Counts = Readonly<Record<(typeof rooms)[number], number>>;

/**
 * Reads the mail in `from` for which `wanted` is true, and changes nothing. A message that moves meanwhile is given once.
 */
export function peekMailbox(
  dir: string,
  from: readonly MailRoom[],
  wanted: (id: string) => boolean = () => true,
): Peek {
  const messages = new Map<string, PeekedMessage>();
  const problems: MailProblem[] = [];
  for (const room of mailRooms.filter((each) => from.includes(each)))
    for (const name of listRoom(dir, room)) {
      const id = room === "cur" ? parseClaimFile(name)?.id : idOfFile(name);
      if (id === undefined || messages.has(id) || !wanted(id)) continue;
      const content = readMessageFile(path.join(dir, room, name), id);
      if (content.type === "message") messages.set(id, { message: content.message, room });
      else if (content.type === "bad") problems.push({ type: "bad", file: name, reason: content.reason });
      else if (content.type === "newer")
        problems.push({ type: "newer", file: name, reason: `its format is version ${content.v}` });
      else if (content.type === "unreadable")
        problems.push({ type: "unreadable", file: name, reason: oneLine(messageOf(content.error)) });
    }
  const byId = (a: PeekedMessage, b: PeekedMessage) => (a.message.id < b.message.id ? -1 : 1);
  return { messages: [...messages.values()].sort(byId), problems };
}

export function countMail(dir: string): Counts {
  const count = (room: (typeof rooms)[number]) =>
    listRoom(dir, room).filter((name) => !name.endsWith(".reason")).length;
  return {
    tmp: count("tmp"),
    new: count("new"),
    cur: count("cur"),
    done: count("done"),
    bad: count("bad"),
  };
}
