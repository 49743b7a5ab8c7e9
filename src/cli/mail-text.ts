import { bodyOf, type ReceivedMessage } from "../team/inbox.js";
import { oneLine, printable } from "../util/text.js";
import { timeText } from "../util/time-text.js";

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
  const body = printable(bodyOf(message))
    .split("\n")
    .map((line) => `  ${line}`.trimEnd());
  return `${words.join(" ")}\n${body.join("\n").trimEnd()}\n\n`;
}
