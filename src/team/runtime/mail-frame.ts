import fs from "node:fs";
import path from "node:path";
import { StringDecoder } from "node:string_decoder";
import type { Message } from "../../../mailbox/index.js";
import type { Frame } from "../../agent/message-frame.js";
import { oneLine } from "../../util/text.js";

/** What mail may take of a conversation, in bytes. */
export const mailBounds = {
  /** Of one message; what is longer is cut, and its file named. */
  text: 64 * 1024,
  /** Of all mail that comes with one request; the rest waits for the next one. */
  request: 256 * 1024,
  /** Of one message that came with a request which was too long. */
  again: 1024,
} as const;

/** A message as it stands in a conversation, from whom it really is. A summary that is none is part of the text. */
export function frameOf(message: Message, from: string): Frame {
  const { id, kind, summary = "", inReplyTo } = message;
  const isSummary = summary.length <= longestSummary;
  return {
    id,
    from,
    kind,
    text: isSummary ? bodyOf(message) : `${summary}\n\n${bodyOf(message)}`,
    ...(message.summary === undefined || !isSummary ? {} : { summary }),
    ...(inReplyTo === undefined ? {} : { inReplyTo }),
  };
}

/**
 * `frame`, or where its text is longer than `most` bytes its beginning, with the file in `dir` that holds all of it. Throws where
 * that cannot be written.
 */
export function shortened(frame: Frame, most: number, dir: string): Frame {
  const bytes = Buffer.from(frame.text);
  if (bytes.length <= most) return frame;
  // Whole characters only.
  const text = new StringDecoder("utf8").write(bytes.subarray(0, most));
  return { ...frame, text, cut: frame.cut ?? `the beginning of ${bytes.length} bytes; all of it: ${keep()}` };

  function keep(): string {
    const file = path.join(dir, `mail-${frame.id}.txt`);
    fs.writeFileSync(file, bytes, { mode: 0o600 });
    return file;
  }
}

export function summaryOf(message: Message): string {
  return oneLine(message.summary ?? message.text ?? message.kind, 80);
}

const longestSummary = 500;

/** The text, or for a kind that says what it has to say in fields of its own those, as JSON. */
function bodyOf(message: Message): string {
  if (message.text !== undefined) return message.text;
  const own = Object.entries(message).filter(([field]) => !envelope.includes(field));
  return own.length === 0 ? "" : JSON.stringify(Object.fromEntries(own));
}

const envelope = ["v", "id", "from", "to", "team", "sentAt", "kind", "summary", "inReplyTo", "seal"];
