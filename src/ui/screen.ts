import type { WriteStream } from "node:tty";
import { cut, displayWidth } from "./width.js";

/** Where a screen writes: a terminal, or any other stream. */
export type ScreenOutput = NodeJS.WritableStream & Partial<Pick<WriteStream, "isTTY" | "columns" | "rows">>;

/** The line under the live rows on which a person types. The cursor stands between `before` and `after`. */
export interface InputRow {
  readonly before: string;
  readonly after: string;
}

/**
 * Ordinary output that scrolls up and, below it, a few live rows that are redrawn in place. Everything handed in is safe
 * for a terminal already; only colours may be in it.
 */
export interface Screen {
  /** Whether rows can be redrawn; where not, finished rows are all that is written. */
  readonly live: boolean;
  columns(): number;
  rows(): number;
  /** Writes finished rows and draws the live ones anew, in one write. `input` is asked again after a resize. */
  update(finished: readonly string[], live: readonly string[], input?: (columns: number) => InputRow): void;
  /** Draws the attention of whoever is at the terminal. */
  bell(): void;
  /** Takes the live rows away and leaves the cursor at the start of an empty line. Later calls do nothing. */
  close(): void;
}

/**
 * A screen on `output`. It listens to resizes and output errors until it is closed; once the terminal is gone it writes
 * nothing more.
 */
export function createScreen(output: ScreenOutput, env: NodeJS.ProcessEnv): Screen {
  const live = output.isTTY === true && env["TERM"] !== "dumb";
  const columns = (): number => (live ? Math.max(1, output.columns ?? 80) : Number.POSITIVE_INFINITY);
  const rows = (): number => (live ? Math.max(1, output.rows ?? 24) : Number.POSITIVE_INFINITY);
  let closed = false;
  let wanted: Parameters<Screen["update"]> = [[], []];
  /** Widths of the rows on the terminal; the cursor is in the last one, at `cursor`. */
  let drawn: { widths: readonly number[]; cursor: number } = { widths: [], cursor: 0 };

  const toTop = (): string => {
    const above = Math.min(rowsAboveCursor(drawn, columns()), rows() - 1);
    return above > 0 ? `\r\u001b[${above}A` : "\r";
  };

  const paint = (finished: readonly string[]): void => {
    if (closed) return;
    // The last column stays free: there terminals differ in where the cursor goes.
    const width = columns() - 1;
    const body = wanted[1].map((row) => cut(row, width));
    const { before, after } = wanted[2]?.(width) ?? { before: body.pop() ?? "", after: "" };
    // One row is left to what has scrolled; the rows that matter most are the last ones.
    body.splice(0, body.length - Math.max(0, rows() - 2));
    const top = toTop();
    const scrolled = finished.map((row) => `${row}\r\n`).join("");
    output.write(
      top +
        (scrolled === "" ? "" : eraseBelow + scrolled) +
        wrapOff +
        body.map((row) => `${row}${eraseRight}\r\n`).join("") +
        before +
        saveCursor +
        after +
        eraseBelow +
        restoreCursor +
        wrapOn,
    );
    const cursor = displayWidth(before);
    drawn = { widths: [...body.map(displayWidth), cursor + displayWidth(after)], cursor };
  };

  const onResize = (): void => paint([]);
  const onError = (): void => {
    closed = true;
  };
  output.on("error", onError);
  if (live) output.on("resize", onResize);

  return {
    live,
    columns,
    rows,
    update(finished, liveRows, input) {
      if (closed) return;
      wanted = [[], liveRows, ...(input === undefined ? ([] as const) : ([input] as const))];
      if (live) paint(finished);
      else if (finished.length > 0) output.write(finished.map((row) => `${row}\n`).join(""));
    },
    bell() {
      if (live && !closed) output.write("\u0007");
    },
    close() {
      output.off("resize", onResize);
      if (closed) return;
      if (live) output.write(toTop() + eraseBelow);
      closed = true;
      output.off("error", onError);
    },
  };
}

const eraseRight = "\u001b[K";
const eraseBelow = "\u001b[J";
// A live row must not wrap even where a terminal finds it wider than we do: without autowrap it cannot.
const wrapOff = "\u001b[?7l";
const wrapOn = "\u001b[?7h";
const saveCursor = "\u001b7";
const restoreCursor = "\u001b8";

/** Rows between the first live row and the cursor. A terminal that became narrower has folded the rows that it shows. */
function rowsAboveCursor(drawn: { widths: readonly number[]; cursor: number }, columns: number): number {
  const folded = drawn.widths.slice(0, -1).map((width) => Math.max(1, Math.ceil(width / columns)));
  return folded.reduce((sum, count) => sum + count, 0) + Math.floor(drawn.cursor / columns);
}
