import fs from "node:fs";
import path from "node:path";
import { StringDecoder } from "node:string_decoder";
import { errnoOf, messageOf } from "../src/util/errors.js";
import { printable } from "../src/util/text.js";

/** Longest line told to a listener, in characters; a longer one arrives in parts. */
const maxLine = 64 * 1024;

/** From this size on, in bytes, a log goes on in a new file; the one before it is kept beside it as `output.log.1`. */
export const maxLogBytes = 64 * 1024 * 1024;

/** How much of the end of a log is looked at, in bytes. */
const tailBytes = 256 * 1024;

/** The file in a run directory to which everything goes that a teammate's program shows. */
export function outputLogOf(runDir: string): string {
  return path.join(runDir, "output.log");
}

/** Takes a program's output: appends it, byte for byte, to its log, and tells a listener every line. */
export interface OutputLog {
  write(chunk: Buffer): void;
  /** Tells the unfinished last line and closes the file. Idempotent. */
  close(): void;
}

/**
 * Opens `output.log` of a run directory (0600), appending. Writes are synchronous, so nothing is lost in a crash. Where
 * one fails (a full disk), the listener is told so once and the log stays as it is; the program goes on. From `maxBytes`
 * on the log begins anew: who follows it reads the old file to its end, then the new one.
 */
export function openOutputLog(
  runDir: string,
  onLine?: (line: string) => void,
  maxBytes = maxLogBytes,
): OutputLog {
  const file = outputLogOf(runDir);
  let fd = fs.openSync(file, "a", 0o600);
  let size = fs.fstatSync(fd).size;
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let open = true;
  let failed = false;
  const take = (text: string): void => {
    if (onLine === undefined) return;
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line.endsWith("\r") ? line.slice(0, -1) : line);
    for (; rest.length > maxLine; rest = rest.slice(maxLine)) onLine(rest.slice(0, maxLine));
  };
  const beginAnew = (): void => {
    fs.renameSync(file, `${file}.1`);
    const old = fd;
    fd = fs.openSync(file, "a", 0o600);
    fs.closeSync(old);
    size = 0;
  };
  return {
    write(chunk) {
      if (!open) return;
      take(decoder.write(chunk));
      if (failed) return;
      try {
        if (size >= maxBytes) beginAnew();
        size += fs.writeSync(fd, chunk);
      } catch (error) {
        failed = true;
        onLine?.(`troupe: the rest is not in the log: ${messageOf(error)}`);
      }
    },
    close() {
      if (!open) return;
      open = false;
      fs.closeSync(fd);
      take(decoder.end());
      if (rest !== "") onLine?.(rest);
    },
  };
}

/**
 * The last `lines` lines of a run directory's output, made printable: of its log, and of the one before where that has begun
 * anew just now; at most 256 KiB. Empty where there is none.
 */
export function readOutputTail(runDir: string, lines: number): string {
  const file = outputLogOf(runDir);
  const now = readEnd(file, tailBytes);
  const before = readEnd(`${file}.1`, tailBytes - now.length);
  return lastLines(Buffer.concat([before, now]).toString("utf8"), lines);
}

/** The last bytes of a file; none where it is no regular one, which is not waited for. */
function readEnd(file: string, maxBytes: number): Buffer {
  if (maxBytes === 0) return Buffer.alloc(0);
  let fd: number;
  try {
    fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
  try {
    const stats = fs.fstatSync(fd);
    if (!stats.isFile()) return Buffer.alloc(0);
    const length = Math.min(stats.size, maxBytes);
    const buffer = Buffer.alloc(length);
    const read = fs.readSync(fd, buffer, 0, length, stats.size - length);
    return buffer.subarray(0, read);
  } finally {
    fs.closeSync(fd);
  }
}

/** The last `count` lines of hostile text that hold something, printable, without trailing blanks. */
export function lastLines(text: string, count: number): string {
  const lines = printable(withoutSequences(text))
    .split("\n")
    .map((line) => line.trimEnd());
  while (lines.at(-1) === "") lines.pop();
  return lines.slice(-Math.max(0, count) || lines.length).join("\n");
}

/** As {@link lastLines}, for the screen of a pane that stays after its program: without the line that says so. */
export function lastScreenLines(text: string, count: number): string {
  return lastLines(text.trimEnd().replace(/(^|\n)Pane is dead[^\n]*$/, ""), count);
}

/** What a program writes to a terminal without its escape sequences; other control characters stay. */
export function withoutSequences(text: string): string {
  return text.replace(sequences, "");
}

/** Escape sequences as a whole, so that no parameters of theirs stay behind as text. */
const sequences =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[PX^_][^\u001b]*\u001b\\|[ -/]*[0-~])/g;
