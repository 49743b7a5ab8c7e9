import fs from "node:fs";
import path from "node:path";
import { errnoOf } from "../src/util/errors.js";
import { type Message, maxFileBytes, parseMessage } from "./message.js";

/**
 * What a name in a mailbox leads to. `bad` is no message and never will be; `unreadable` could not be read now (no
 * file descriptors, no permission, a failing disk) and may be later.
 */
export type MessageFile =
  | { readonly type: "message"; readonly message: Message }
  | { readonly type: "newer"; readonly v: number }
  | { readonly type: "bad"; readonly reason: string }
  | { readonly type: "missing" }
  | { readonly type: "unreadable"; readonly error: unknown };

type Content =
  | { readonly type: "bytes"; readonly bytes: Buffer }
  | Exclude<MessageFile, { readonly type: "message" | "newer" }>;

/** Reads the message with `id` from `file`, whatever its name there. Never throws, never blocks, follows no link. */
export function readMessageFile(file: string, id: string): MessageFile {
  const content = readContent(file);
  return content.type === "bytes" ? parseMessage(content.bytes, `${id}.json`) : content;
}

/** The bytes of a regular file of at most 8 MiB, or why there are none. */
export function readContent(file: string): Content {
  let fd: number;
  try {
    // Without O_NONBLOCK a FIFO would hang this process for good.
    fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK | fs.constants.O_NOFOLLOW);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT") return { type: "missing" };
    if (code === "ELOOP" || code === "EMLINK") return { type: "bad", reason: "a symbolic link" };
    if (code === "ENXIO" || code === "EOPNOTSUPP") return { type: "bad", reason: "a socket or a device" };
    return { type: "unreadable", error };
  }
  try {
    const stat = fs.fstatSync(fd);
    if (!stat.isFile())
      return { type: "bad", reason: stat.isDirectory() ? "a directory" : "not a regular file" };
    if (stat.size > maxFileBytes) return { type: "bad", reason: `larger than ${maxFileBytes} bytes` };
    return { type: "bytes", bytes: readUpTo(fd, stat.size) };
  } catch (error) {
    return { type: "unreadable", error };
  } finally {
    fs.closeSync(fd);
  }
}

/**
 * Renames `from` to `to`; false if `from` is gone. Where both already name the same file rename(2) does nothing and
 * leaves both, so the old name is removed then.
 */
export function moveFile(from: string, to: string): boolean {
  try {
    fs.renameSync(from, to);
  } catch (error) {
    if (errnoOf(error) === "ENOENT" && fs.existsSync(path.dirname(to))) return false;
    throw error;
  }
  if (fs.existsSync(from)) removeLeftover(from);
  return true;
}

/** Removes a file that only costs space or one more look where it stays, so that a failure is none of the caller's. */
export function removeLeftover(file: string): void {
  try {
    fs.unlinkSync(file);
  } catch {
    // The sweep, or the next claim, meets it again.
  }
}

/** Removes a file; false if it is gone already. */
export function removeFile(file: string): boolean {
  try {
    fs.unlinkSync(file);
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}

function readUpTo(fd: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  let length = 0;
  while (length < size) {
    const read = fs.readSync(fd, bytes, length, size - length, length);
    if (read === 0) break;
    length += read;
  }
  return bytes.subarray(0, length);
}
