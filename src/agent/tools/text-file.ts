import type { Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { TroupeError } from "../../util/errors.js";

const bom = "\uFEFF";

/** A file as text that can be written back byte for byte. */
export interface TextFile {
  /** Without the byte order mark. */
  readonly text: string;
  readonly hasBom: boolean;
  readonly stats: Stats;
}

/** Reads a whole text file. Throws TroupeError `file-binary` for what is not UTF-8 text, `file-too-large` beyond `maxBytes`. */
export async function readTextFile(handle: FileHandle, given: string, maxBytes: number): Promise<TextFile> {
  const stats = await handle.stat();
  if (stats.size > maxBytes)
    throw new TroupeError(
      "file-too-large",
      `${given} has ${stats.size} bytes, more than the ${maxBytes} handled here.`,
    );
  const bytes = await handle.readFile();
  if (isBinary(bytes)) throw binary(given);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new TroupeError("file-binary", `${given} is not valid UTF-8 and would be damaged by an edit.`, {
      cause,
    });
  }
  return text.startsWith(bom) ? { text: text.slice(1), hasBom: true, stats } : { text, hasBom: false, stats };
}

/** The inverse of {@link readTextFile}. */
export function encodeText(text: string, hasBom: boolean): Buffer {
  return Buffer.from(hasBom ? bom + text : text, "utf8");
}

/** Whether the start of a file is not text: it holds a NUL, as every UTF-16 file does. */
export function isBinary(start: Uint8Array): boolean {
  return start.subarray(0, 8192).includes(0);
}

export function binary(given: string): TroupeError {
  return new TroupeError("file-binary", `${given} is a binary file; only text can be handled.`);
}
