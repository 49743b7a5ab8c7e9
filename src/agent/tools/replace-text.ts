import { count } from "./result-text.js";

export type Replacement =
  | {
      readonly ok: true;
      readonly text: string /** Where each replacement begins in the new text, from 1. */;
      readonly lines: readonly number[];
    }
  | { readonly ok: false; readonly reason: string };

/**
 * Replaces `oldText`, which must occur exactly once unless `all`. A line end in it matches LF and CRLF alike, and the
 * ends of inserted lines follow the lines they replace, or else the first line of the file. A refusal says what the caller should do.
 */
export function replaceText(text: string, oldText: string, newText: string, all: boolean): Replacement {
  const wanted = oldText.replaceAll("\r\n", "\n");
  const inserted = newText.replaceAll("\r\n", "\n");
  if (wanted === "")
    return refuse("old_string is empty. Give the text to replace; to make a whole file use Write.");
  if (wanted === inserted)
    return refuse("old_string and new_string are the same: there is nothing to change.");
  const found = occurrences(text, wanted);
  if (found.length === 0) return refuse(whyMissing(text, wanted));
  if (found.length > 1 && !all) {
    const lines = found.slice(0, 10).map(({ start }) => lineAt(text, start));
    const more = found.length > 10 ? ", …" : "";
    return refuse(
      `old_string occurs ${found.length} times (in lines ${lines.join(", ")}${more}). Add lines around it until it is unique, or set replace_all.`,
    );
  }
  const fileEnd = /\r?\n/.exec(text)?.[0] ?? "\n";
  const lines: number[] = [];
  let result = "";
  let line = 1;
  let from = 0;
  for (const { start, end } of found) {
    const before = text.slice(from, start);
    const lineEnd = /\r?\n/.exec(text.slice(start, end))?.[0] ?? fileEnd;
    line += newlines(before);
    lines.push(line);
    line += newlines(inserted);
    result += before + inserted.replaceAll("\n", lineEnd);
    from = end;
  }
  return { ok: true, text: result + text.slice(from), lines };
}

function refuse(reason: string): Replacement {
  return { ok: false, reason };
}

/** Every occurrence, without overlaps; LF in `wanted` stands for LF or CRLF. */
function occurrences(text: string, wanted: string): { start: number; end: number }[] {
  const pattern = new RegExp(escapeRegExp(wanted).replaceAll("\n", "\\r?\\n"), "g");
  return Array.from(text.matchAll(pattern), (match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
}

function whyMissing(text: string, wanted: string): string {
  const plain = "old_string was not found.";
  const withoutNumbers = wanted.replace(/^[ ]*\d+\t/gm, "");
  if (withoutNumbers !== wanted && withoutNumbers !== "" && occurrences(text, withoutNumbers).length > 0)
    return `${plain} It holds the line numbers that Read shows; leave them out.`;
  const words = wanted.trim().split(/\s+/).map(escapeRegExp);
  const loose = words[0] === "" ? null : new RegExp(words.join("\\s+")).exec(text);
  if (loose !== null)
    return `${plain} ${count(1, "place")} differs in white space only, at line ${lineAt(text, loose.index)}: read it again and copy the indentation and line breaks exactly.`;
  const firstLine = wanted
    .split("\n")
    .find((line) => line.trim() !== "")
    ?.trim();
  const near = firstLine === undefined ? -1 : text.indexOf(firstLine);
  if (near !== -1 && firstLine !== wanted.trim())
    return `${plain} Its first line is at line ${lineAt(text, near)}, but what follows there is different: read the file from there again.`;
  return `${plain} Read the file again and copy the text exactly.`;
}

function escapeRegExp(literal: string): string {
  return literal.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

function lineAt(text: string, index: number): number {
  return newlines(text.slice(0, index)) + 1;
}

function newlines(text: string): number {
  return text.split("\n").length - 1;
}
