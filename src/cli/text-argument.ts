import { isUtf8 } from "node:buffer";
import fs from "node:fs";
import type { Readable } from "node:stream";
import { maxTextBytes } from "../../mailbox/message.js";
import { messageOf, TroupeError } from "../util/errors.js";
import type { Io } from "./io.js";

/**
 * The text that a command line gives: as TEXT, from stdin for `-`, or from a file. At most 1 MiB of it is read. Throws TroupeError
 * of kind `usage` for one that is missing, doubled, empty, too long or not UTF-8, and `unreadable-file`.
 */
export async function textArgument(
  io: Io,
  command: string,
  text: string | undefined,
  file: string | undefined,
): Promise<string> {
  const usage = (message: string, remedy = `troupe ${command} --help`) =>
    new TroupeError("usage", `${command}: ${message}`, { kind: "usage", remedy });
  if ((text === undefined) === (file === undefined))
    throw usage(text === undefined ? "TEXT is missing" : "give TEXT or --file, not both");
  const bytes =
    file !== undefined
      ? readFile(command, file)
      : text === "-"
        ? await readStream(io.stdin)
        : Buffer.from(text ?? "");
  if (bytes.length > maxTextBytes)
    throw usage(
      `the text is longer than ${maxTextBytes} bytes`,
      "put it into a file and send the file's path",
    );
  if (!isUtf8(bytes))
    throw usage(`${file ?? "stdin"} is not UTF-8 text`, "send the path of the file instead");
  if (bytes.length === 0) throw usage("the text is empty");
  return bytes.toString("utf8");
}

/** Reads a regular file to its end, or until it is clear that it is too much. Anything else might never end, or never begin. */
function readFile(command: string, file: string): Buffer {
  let fd: number | undefined;
  try {
    requireRegular(fs.statSync(file));
    // It may have become something else since: a FIFO must not keep the opening waiting.
    fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    requireRegular(fs.fstatSync(fd));
    const buffer = Buffer.allocUnsafe(maxTextBytes + 1);
    let length = 0;
    for (let read = 1; read > 0 && length < buffer.length; length += read)
      read = fs.readSync(fd, buffer, length, buffer.length - length, null);
    return buffer.subarray(0, length);
  } catch (cause) {
    const message = `${command}: the file ${file} cannot be read: ${messageOf(cause)}`;
    const remedy =
      cause instanceof IrregularFile
        ? "give - as TEXT and pipe it to stdin"
        : "check its path and what its permissions allow, then send again";
    throw new TroupeError("unreadable-file", message, { cause, remedy });
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}

class IrregularFile extends Error {
  override readonly name = "IrregularFile";
}

function requireRegular(stat: fs.Stats): void {
  if (!stat.isFile()) throw new IrregularFile(stat.isDirectory() ? "a directory" : "not a regular file");
}

/** Reads to the end, or until it is clear that it is too much. */
async function readStream(stream: Readable): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of stream) {
    const bytes = Buffer.from(part);
    parts.push(bytes);
    length += bytes.length;
    if (length > maxTextBytes) break;
  }
  return Buffer.concat(parts);
}
