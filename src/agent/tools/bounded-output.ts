import fs from "node:fs";
import { stripVTControlCharacters } from "node:util";

/** A command's output: its beginning and end in memory, all of it in a file once it does not fit. */
export interface BoundedOutput {
  /** Takes the chunk synchronously. Throws what writing the file throws. */
  write(chunk: Buffer): void;
  /** The output for a result, without terminal escapes; what is left out is said, with the file that has it. */
  text(): string;
  /** Ends the file. Idempotent. */
  close(): void;
}

export interface OutputLimits {
  /** Bytes shown; two fifths of them from the beginning, the rest from the end. */
  readonly shownBytes: number;
  /** Bytes that the file may get; the rest is lost. */
  readonly fileBytes: number;
}

/** Collects output; `file` (0600, must not exist) is made only when the output exceeds `shownBytes`. */
export function createBoundedOutput(file: string, limits: OutputLimits): BoundedOutput {
  const headBytes = Math.floor(limits.shownBytes * 0.4);
  const tailBytes = limits.shownBytes - headBytes;
  let head = Buffer.alloc(0);
  let tail: Buffer[] = [];
  let tailHeld = 0;
  let total = 0;
  let fd: number | undefined;
  let written = 0;

  const spill = (chunk: Buffer) => {
    const fitting = chunk.subarray(0, limits.fileBytes - written);
    for (let at = 0; at < fitting.length && fd !== undefined; ) at += fs.writeSync(fd, fitting, at);
    written += fitting.length;
  };

  return {
    write(chunk) {
      total += chunk.length;
      if (total > limits.shownBytes && fd === undefined && written === 0) {
        fd = fs.openSync(file, "wx", 0o600);
        spill(Buffer.concat([head, ...tail]));
      }
      if (fd !== undefined) spill(chunk);
      const toHead = chunk.subarray(0, Math.max(0, headBytes - head.length));
      if (toHead.length > 0) head = Buffer.concat([head, toHead]);
      const rest = chunk.subarray(toHead.length);
      // Copied where small, so that a tail of slices does not keep large chunks alive.
      tail.push(rest.length > tailBytes ? Buffer.from(rest.subarray(-tailBytes)) : Buffer.from(rest));
      tailHeld += Math.min(rest.length, tailBytes);
      while (tail.length > 1 && tailHeld - (tail[0]?.length ?? 0) >= tailBytes)
        tailHeld -= tail.shift()?.length ?? 0;
    },
    text() {
      const end = Buffer.concat(tail);
      if (total <= limits.shownBytes) return clean(Buffer.concat([head, end]));
      const left = total - limits.shownBytes;
      const partly = written < total ? `; it holds the first ${written} bytes` : "";
      const notice = `\n[… ${left} bytes left out; the whole output is in ${file}${partly} …]\n`;
      return clean(wholeCharacters(head)) + notice + clean(wholeCharacters(end.subarray(-tailBytes)));
    },
    close() {
      if (fd !== undefined) fs.closeSync(fd);
      fd = undefined;
      tail = [Buffer.concat(tail)];
    },
  };
}

/** Without the halves of UTF-8 characters that a cut left at either end. */
function wholeCharacters(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  let lead = bytes.length - 1;
  while (lead > bytes.length - 4 && ((bytes[lead] ?? 0) & 0xc0) === 0x80) lead -= 1;
  const first = bytes[lead] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return bytes.subarray(start, lead + length > bytes.length ? lead : bytes.length);
}

function clean(bytes: Buffer): string {
  return stripVTControlCharacters(bytes.toString("utf8"));
}
