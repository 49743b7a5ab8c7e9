import type { Message } from "../../../mailbox/index.js";
import { oneLine, printable } from "../../util/text.js";
import { frameOf } from "../runtime/mail-frame.js";

/**
 * A message as it is typed to a program: `[message from NAME, #ID] text`, every further line behind `| `, so that no line of
 * the text can pass for the head of another message. A kind that is not `text` is told behind the id. It never begins with a
 * character that a program takes for a command, and never ends in `\`, which would make Enter a part of it.
 */
export function typedMail(message: Message, from: string): string {
  const { id, kind } = message;
  const text = printable(frameOf(message, from).text).replace(/\n+$/, "");
  const head = [`message from ${plain(from)}`, `#${id}`, ...(kind === "text" ? [] : [plain(kind)])];
  const typed = `[${head.join(", ")}] ${text.replaceAll("\n", "\n| ")}`;
  return typed.endsWith("\\") ? `${typed} ` : typed;
}

/** Words of the sender in the head; nothing in them can end it. */
function plain(words: string): string {
  return oneLine(words, 80).replace(/[[\],#]/g, "_");
}
