import { printable } from "../util/text.js";
import { wrap } from "./width.js";

/** Text that arrives in pieces, as rows that are safe for a terminal. */
export interface TextStream {
  /** The rows that are complete now. */
  add(piece: string): string[];
  /** The unfinished last row; empty where there is none. */
  open(): string;
  /** Ends the text: the unfinished row, if there is one. */
  end(): string[];
}

/** Rows are at most `width()` columns; `Infinity` gives whole lines. */
export function createTextStream(width: () => number): TextStream {
  let open = "";
  /** A CR at the end of a piece may be half of a CRLF. */
  let heldReturn = "";
  /** Whether `open` continues a line of which rows have been given out. */
  let continued = false;
  return {
    add(piece) {
      const text = heldReturn + piece;
      heldReturn = text.endsWith("\r") ? "\r" : "";
      const lines = (open + safe(heldReturn === "" ? text : text.slice(0, -1))).split("\n");
      const rows: string[] = [];
      for (const [index, line] of lines.entries()) {
        const lineRows = wrap(continued ? line.trimStart() : line, width());
        const isLast = index === lines.length - 1;
        open = isLast ? (lineRows.pop() ?? "") : "";
        rows.push(...lineRows);
        continued = isLast && (lineRows.length > 0 || continued);
      }
      return rows;
    },
    open: () => open,
    end() {
      const rest = open;
      open = "";
      heldReturn = "";
      continued = false;
      return rest.trim() === "" ? [] : [rest];
    },
  };
}

function safe(text: string): string {
  return printable(text).replaceAll("\t", "    ");
}
