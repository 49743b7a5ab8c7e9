import type { ReceivedMessage } from "../team/inbox.js";
import { oneLine, printable } from "../util/text.js";

/**
 * A message for a terminal: one line with when, from whom and what about, then the text, each of its lines indented, so
 * that no text can pass for the next message. Ends with an empty line.
 */
export function mailText(message: ReceivedMessage): string {
  const { sender, sentAt, kind, id, summary, inReplyTo } = message;
  const words = [
    timeText(sentAt),
    `from ${oneLine(sender, 80)}`,
    ...(kind === "text" ? [] : [`[${oneLine(kind, 40)}]`]),
    ...(summary === undefined ? [] : [`· ${oneLine(summary, 100)}`]),
    ...(inReplyTo === undefined ? [] : [`(reply to ${inReplyTo})`]),
    `#${id}`,
  ];
  const body = printable(message.text ?? otherFields(message))
    .split("\n")
    .map((line) => `  ${line}`.trimEnd());
  return `${words.join(" ")}\n${body.join("\n").trimEnd()}\n\n`;
}

/** `08:15:30` today, else with the date; in local time. */
export function timeText(iso: string, now = new Date()): string {
  const time = new Date(iso);
  const two = (value: number) => String(value).padStart(2, "0");
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
  if (time.toDateString() === now.toDateString()) return clock;
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${clock}`;
}

/** What a message without text says, as JSON. */
function otherFields(message: ReceivedMessage): string {
  const { v, id, from, to, sentAt, kind, summary, inReplyTo, seal, sender, ...rest } = message;
  return Object.keys(rest).length === 0 ? "" : JSON.stringify(rest);
}
