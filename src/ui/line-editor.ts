import { printable } from "../util/text.js";
import type { Key } from "./key-parser.js";
import type { InputRow } from "./screen.js";
import { cells, cut, displayWidth } from "./width.js";

/** The line a person is typing. A pasted text may bring line breaks; they are kept. */
export interface LineState {
  readonly before: string;
  readonly after: string;
  /** Lines sent earlier, oldest first. */
  readonly history: readonly string[];
  /** Where in the history the person looks; its length stands for the line being typed. */
  readonly at: number;
  /** The line being typed, while the history is looked at. */
  readonly draft: string;
}

/** What a key asks for besides a change of the line. */
export type LineAction =
  | { readonly type: "send"; readonly text: string }
  | { readonly type: "escape" | "interrupt" | "end" };

export const emptyLine: LineState = { before: "", after: "", history: [], at: 0, draft: "" };

/** The line after `key`, and what it asks for. Keys without a meaning change nothing. */
export function pressKey(
  line: LineState,
  key: Key,
): { readonly line: LineState; readonly action?: LineAction } {
  if (key.type !== "key") return { line: { ...line, before: line.before + insertable(key.text) } };
  switch (key.name) {
    case "enter":
      return send(line);
    case "shift-enter":
    case "alt-enter":
    case "ctrl-enter":
      return { line: { ...line, before: `${line.before}\n` } };
    case "escape":
      return { line, action: { type: "escape" } };
    case "ctrl-c":
      return { line, action: { type: "interrupt" } };
    case "ctrl-d":
      return isEmpty(line)
        ? { line, action: { type: "end" } }
        : { line: { ...line, after: afterFirst(line.after) } };
    case "delete":
      return { line: { ...line, after: afterFirst(line.after) } };
    case "backspace":
    case "shift-backspace":
      return { line: { ...line, before: beforeLast(line.before) } };
    case "left":
    case "ctrl-b":
      return { line: split(line, beforeLast(line.before).length) };
    case "right":
    case "ctrl-f":
      return { line: split(line, textOf(line).length - afterFirst(line.after).length) };
    case "home":
    case "ctrl-a":
      return { line: split(line, 0) };
    case "end":
    case "ctrl-e":
      return { line: split(line, textOf(line).length) };
    case "ctrl-k":
      return { line: { ...line, after: "" } };
    case "ctrl-u":
      return { line: { ...line, before: "" } };
    case "ctrl-w":
      return { line: { ...line, before: line.before.replace(/\S+\s*$|\s+$/u, "") } };
    case "up":
    case "ctrl-p":
      return { line: look(line, line.at - 1) };
    case "down":
    case "ctrl-n":
      return { line: look(line, line.at + 1) };
    default:
      return { line };
  }
}

/** The whole line. */
export function textOf(line: LineState): string {
  return line.before + line.after;
}

/**
 * The line in at most `width` columns behind `prompt`, scrolled so that the cursor is in sight. A prompt that leaves less
 * than half of the row is shortened to `>`. Line breaks are shown as `newline`.
 */
export function inputRow(line: LineState, prompt: string, width: number, newline: string): InputRow {
  const shortPrompt = displayWidth(prompt) <= width / 2 ? prompt : cut("> ", width - 2, "");
  const room = Math.max(1, width - displayWidth(shortPrompt));
  const onOneRow = (text: string): string => text.replaceAll("\n", newline);
  // The cursor itself takes a column.
  const before = tail(onOneRow(line.before), room - 1);
  const after = cut(onOneRow(line.after), Math.max(0, room - displayWidth(before)), "");
  return { before: shortPrompt + before, after };
}

const historySize = 200;

function insertable(text: string): string {
  return printable(text).replaceAll("\t", "  ");
}

function send(line: LineState): { readonly line: LineState; readonly action?: LineAction } {
  const text = textOf(line).trim();
  if (text === "") return { line: { ...line, before: "", after: "" } };
  const history = line.history.at(-1) === text ? line.history : [...line.history, text].slice(-historySize);
  return {
    line: { before: "", after: "", history, at: history.length, draft: "" },
    action: { type: "send", text },
  };
}

function isEmpty(line: LineState): boolean {
  return line.before === "" && line.after === "";
}

function split(line: LineState, at: number): LineState {
  const text = textOf(line);
  return { ...line, before: text.slice(0, at), after: text.slice(at) };
}

function beforeLast(text: string): string {
  return text.slice(0, text.length - (cells(text).at(-1)?.text.length ?? 0));
}

function afterFirst(text: string): string {
  return text.slice(cells(text)[0]?.text.length ?? 0);
}

function look(line: LineState, at: number): LineState {
  if (at < 0 || at > line.history.length) return line;
  const draft = line.at === line.history.length ? textOf(line) : line.draft;
  return { ...line, before: line.history[at] ?? draft, after: "", at, draft };
}

/** The end of `text` that fits into `width` columns. */
function tail(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let used = 0;
  let kept = "";
  for (const cell of cells(text).reverse()) {
    used += cell.width;
    if (used > width) break;
    kept = cell.text + kept;
  }
  return kept;
}
