import { bodyOf } from "../team/inbox.js";
import type { MailReceipt, TeamMessage } from "../team/team-mail.js";
import { oneLine, printable } from "../util/text.js";
import { timeText } from "../util/time-text.js";
import type { Style } from "./style.js";
import { cut, displayWidth, steady, wrap } from "./width.js";

export interface MailLook {
  readonly style: Style;
  /** `Infinity` for files and pipes, where nothing is cut or broken. */
  readonly columns: number;
  readonly now: Date;
  /** A member's colour, by name. */
  readonly colourOf: (name: string) => string;
}

/** How deep answers are indented, however deep they answer. */
const deepest = 4;

/**
 * Messages as rows, each answer under what it answers. The rows of a text stand behind a bar, so that no text can pass for a
 * message. What answers something that is not among them says so.
 */
export function renderThread(messages: readonly TeamMessage[], look: MailLook): string[] {
  return inThreads(messages).flatMap(({ mail, depth }) => renderMail(mail, look, depth));
}

/** One message as rows: when, from whom, to whom and how far it got; what it answers, where that is not above it; its text. */
export function renderMail(mail: TeamMessage, look: MailLook, depth = 0): string[] {
  const { style, columns } = look;
  const { message } = mail;
  const indent = "  ".repeat(Math.min(depth, deepest));
  const width = Math.max(12, columns - indent.length);
  const { more, bar } = style.symbols;
  const head = headOf(mail, look);
  const id = `#${message.id}`;
  const fits = displayWidth(head) + 1 + id.length <= width;
  const body = bodyOf(message);
  const summary = summaryOf(message.summary, body);
  const reply = depth === 0 || depth > deepest ? message.inReplyTo : undefined;
  const rows = [
    fits ? `${head} ${style.dim(id)}` : cut(head, width, more),
    ...(fits ? [] : [`  ${style.dim(cut(id, width - 2, more))}`]),
    ...(reply === undefined ? [] : [`  ${style.dim(cut(`in reply to #${reply}`, width - 2, more))}`]),
    ...(summary === undefined ? [] : [`  ${style.bold(cut(summary, width - 2, more))}`]),
    ...bodyRows(body, width - 4).map((row) => `  ${bar} ${row}`.trimEnd()),
    "",
  ];
  return rows.map((row) => (row === "" ? row : indent + row));
}

interface Threaded {
  readonly mail: TeamMessage;
  readonly depth: number;
}

/** In the order of their times, but each answer behind what it answers, which must have come before it: so there is no circle. */
function inThreads(messages: readonly TeamMessage[]): Threaded[] {
  const before = new Map<string, TeamMessage>();
  const answers = new Map<TeamMessage, TeamMessage[]>();
  const roots: TeamMessage[] = [];
  for (const mail of messages) {
    const asked = before.get(mail.message.inReplyTo ?? "");
    if (asked === undefined) roots.push(mail);
    else answers.set(asked, [...(answers.get(asked) ?? []), mail]);
    if (!before.has(mail.message.id)) before.set(mail.message.id, mail);
  }
  const threaded: Threaded[] = [];
  const next: Threaded[] = roots.map((mail) => ({ mail, depth: 0 })).reverse();
  for (let one = next.pop(); one !== undefined; one = next.pop()) {
    threaded.push(one);
    const { depth } = one;
    const under = answers.get(one.mail) ?? [];
    next.push(...under.map((mail) => ({ mail, depth: depth + 1 })).reverse());
  }
  return threaded;
}

function headOf({ message, recipients, receipt }: TeamMessage, { style, now, colourOf }: MailLook): string {
  const painted = (name: string) => style.paint(colourOf(name), steady(oneLine(name, 60)));
  const isGroup = message.to === "*" || message.to.startsWith("#");
  const to = isGroup ? oneLine(message.to, 60) : recipients.map(({ name }) => painted(name)).join(", ");
  const words = [
    style.dim(timeText(message.sentAt, now)),
    `${painted(message.sender)} ${style.symbols.out} ${to}`,
    ...(message.kind === "text" ? [] : [`[${oneLine(message.kind, 40)}]`]),
    receiptWords(recipients, receipt, style),
  ];
  return words.join(" ");
}

/** `seen`; of several recipients that differ `2 seen, 1 stored`. */
function receiptWords(recipients: TeamMessage["recipients"], least: MailReceipt, style: Style): string {
  const counts = new Map<MailReceipt, number>();
  for (const { receipt } of recipients) counts.set(receipt, (counts.get(receipt) ?? 0) + 1);
  const text =
    counts.size === 1 ? least : [...counts].map(([receipt, count]) => `${count} ${receipt}`).join(", ");
  return least === "seen" ? style.good(text) : least === "stored" ? style.warn(text) : text;
}

/** What a message is about, on one line, unless its text begins with the same. */
function summaryOf(summary: string | undefined, body: string): string | undefined {
  const line = steady(oneLine(summary ?? "", 200));
  const start = steady(oneLine(body.slice(0, 1000), 1000));
  return line === "" || start.startsWith(line.replace(/\u2026$/, "")) ? undefined : line;
}

function bodyRows(text: string, width: number): string[] {
  const body = steady(printable(text).trimEnd());
  if (body === "") return [];
  if (width === Number.POSITIVE_INFINITY) return body.split("\n");
  return body.split("\n").flatMap((line) => wrap(line.replaceAll("\t", "    "), width));
}
