import type { FileHandle } from "node:fs/promises";
import { isBinary } from "./text-file.js";

/** Part of a text file, for people and models to look at. */
export interface LineWindow {
  /** From line `offset` on, without line ends; a long line is cut and says so. */
  readonly lines: readonly string[];
  /** Lines of the file, or undefined where counting was given up. */
  readonly total: number | undefined;
  readonly size: number;
}

export interface WindowLimits {
  /** Most bytes of one line. */
  readonly lineBytes: number;
  /** The window ends early when it holds this many bytes. */
  readonly windowBytes: number;
  /** How far the file is read past the window to count its lines. */
  readonly countBytes: number;
}

/** Reads lines `offset` (from 1) to `offset + limit - 1` in bounded memory. Undefined for a binary file. */
export async function readLineWindow(
  handle: FileHandle,
  offset: number,
  limit: number,
  limits: WindowLimits,
  signal: AbortSignal,
): Promise<LineWindow | undefined> {
  const lines: string[] = [];
  let number = 1;
  let kept: Buffer[] = [];
  let keptBytes = 0;
  let lineBytes = 0;
  let windowBytes = 0;
  let size = 0;
  let pastWindow = 0;
  const wanted = () => number >= offset && lines.length < limit && windowBytes < limits.windowBytes;
  const add = (part: Buffer) => {
    lineBytes += part.length;
    if (!wanted() || keptBytes >= limits.lineBytes) return;
    const piece = part.subarray(0, limits.lineBytes - keptBytes);
    kept.push(piece);
    keptBytes += piece.length;
  };
  const finish = () => {
    if (wanted()) {
      lines.push(decodeLine(Buffer.concat(kept), lineBytes, number === 1));
      windowBytes += keptBytes + 1;
    }
    number += 1;
    kept = [];
    keptBytes = 0;
    lineBytes = 0;
  };
  const buffer = Buffer.alloc(64 * 1024);
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, size);
    if (bytesRead === 0) break;
    // Copied, because parts of a line outlive the next read into the buffer.
    const chunk = Buffer.from(buffer.subarray(0, bytesRead));
    if (size === 0 && isBinary(chunk)) return undefined;
    size += bytesRead;
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      add(chunk.subarray(start, end));
      finish();
      start = end + 1;
    }
    add(chunk.subarray(start));
    if (number > offset && !wanted()) pastWindow += bytesRead;
    if (pastWindow > limits.countBytes) return { lines, total: undefined, size };
  }
  if (lineBytes > 0) finish();
  return { lines, total: number - 1, size };
}

function decodeLine(bytes: Buffer, fullLength: number, first: boolean): string {
  // Without `fatal`, what is not UTF-8 becomes the replacement character; a cut character at the end goes.
  const text = new TextDecoder("utf-8", { ignoreBOM: !first }).decode(bytes, {
    stream: bytes.length < fullLength,
  });
  if (bytes.length < fullLength) return `${text}… [${fullLength - bytes.length} more bytes in this line]`;
  return text.endsWith("\r") ? text.slice(0, -1) : text;
}
