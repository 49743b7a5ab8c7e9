import { type FileHandle, open, stat } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import { errnoOf } from "../util/errors.js";
import { delay } from "../util/wait.js";

/** Bytes read at once. */
const chunkBytes = 64 * 1024;

/** A line that a reader will not get whole, in characters; it comes in parts. */
const maxLine = 1024 * 1024;

/**
 * The lines of a file from its beginning, and with `follow` those that come later, until `isOver` says that nothing will.
 * A file that does not exist (yet) has none; one that is moved away and begun anew is read to its end, and then the new one.
 * A last line without newline is given at the end. Rejects with the signal's
 * reason on abort.
 */
export async function* fileLines(
  file: string,
  options: { readonly follow: boolean; readonly isOver: () => boolean },
  signal: AbortSignal,
): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  const buffer = Buffer.allocUnsafe(chunkBytes);
  let handle: FileHandle | undefined;
  let rest = "";
  try {
    for (;;) {
      signal.throwIfAborted();
      // Both asked before the read: what was written before the end, or the move, is read by the read that follows.
      const last = !options.follow || options.isOver();
      const moved = handle !== undefined && (await wasBegunAnew(file, handle));
      handle ??= await openIfExists(file);
      let read = 0;
      do {
        read = handle === undefined ? 0 : (await handle.read(buffer, 0, chunkBytes, null)).bytesRead;
        const lines = (rest + decoder.write(buffer.subarray(0, read))).split("\n");
        rest = lines.pop() ?? "";
        yield* lines;
        for (; rest.length > maxLine; rest = rest.slice(maxLine)) yield rest.slice(0, maxLine);
      } while (read > 0);
      if (moved) {
        await handle?.close();
        handle = undefined;
        continue;
      }
      if (last) break;
      await delay(100, signal);
    }
    rest += decoder.end();
    if (rest !== "") yield rest;
  } finally {
    await handle?.close();
  }
}

/** Whether there is another file of that name by now. */
async function wasBegunAnew(file: string, handle: FileHandle): Promise<boolean> {
  try {
    const [now, read] = await Promise.all([stat(file), handle.stat()]);
    return now.ino !== read.ino || now.dev !== read.dev;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}

async function openIfExists(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, "r");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
