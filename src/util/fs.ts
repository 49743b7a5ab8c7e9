import fs from "node:fs";
import path from "node:path";
import { errnoOf, TroupeError } from "./errors.js";

let serial = 0;

/** Creates `dir` and its missing parents with mode 0700. An existing directory is left as it is. */
export async function ensureDir(dir: string): Promise<void> {
  ensureDirSync(dir);
}

/**
 * As {@link ensureDir}, blocking. Parents are made one by one: Node's own recursive mkdir never returns where a file
 * system answers ENOENT for a directory whose parent exists, as /proc does.
 */
export function ensureDirSync(dir: string, mode = 0o700): void {
  try {
    makeDir(dir, mode);
  } catch (error) {
    const parent = path.dirname(dir);
    if (errnoOf(error) !== "ENOENT" || parent === dir) throw error;
    ensureDirSync(parent, mode);
    makeDir(dir, mode);
  }
}

function makeDir(dir: string, mode: number): void {
  try {
    fs.mkdirSync(dir, { mode });
  } catch (error) {
    if (errnoOf(error) !== "EEXIST" || !fs.statSync(dir).isDirectory()) throw error;
  }
}

/**
 * As {@link ensureDir}, for a directory below a place where others can write: throws unless it is a directory of this
 * user that nobody else may enter.
 */
export async function ensurePrivateDir(dir: string): Promise<void> {
  await ensureDir(dir);
  const stats = await fs.promises.lstat(dir);
  if (stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0) return;
  throw new TroupeError("unsafe-directory", `${dir} is not a directory that only you can enter`, {
    remedy: "remove it, or set TROUPE_HOME to a shorter path",
  });
}

/**
 * Replaces `file` as a whole: temporary file in the same directory (mode 0600), fsync, rename. A reader sees the old
 * or the new content, never a part; after a crash one of the two is there.
 */
export async function writeFileAtomic(file: string, content: string, mode = 0o600): Promise<void> {
  const temporary = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}.${++serial}.tmp`);
  try {
    const handle = await fs.promises.open(temporary, "wx", mode);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await fs.promises.rename(temporary, file);
  } catch (error) {
    await fs.promises.rm(temporary, { force: true });
    throw error;
  }
}

/** As {@link writeFileAtomic}, with `value` as indented JSON. */
export async function writeJsonAtomic(file: string, value: unknown): Promise<void> {
  await writeFileAtomic(file, `${JSON.stringify(value, null, 2)}\n`);
}

/** The file's text, or undefined if there is no such file. Every other failure is thrown. */
export function readTextIfExists(file: string): string | undefined {
  try {
    return fs.readFileSync(file, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** The names in `dir`, unsorted, or an empty list if there is no such directory. Every other failure is thrown. */
export function listIfExists(dir: string): string[] {
  try {
    return fs.readdirSync(dir);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}

/** Makes the entries of `dir` durable. */
export async function fsyncDir(dir: string): Promise<void> {
  const handle = await fs.promises.open(dir, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The last `bytes` bytes of a file as text, cut at a line where it was cut; empty if there is no such file. */
export function readTail(file: string, bytes: number): string {
  let handle: number;
  try {
    handle = fs.openSync(file, "r");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return "";
    throw error;
  }
  try {
    const { size } = fs.fstatSync(handle);
    const start = Math.max(0, size - bytes);
    const buffer = Buffer.alloc(size - start);
    const read = fs.readSync(handle, buffer, 0, buffer.length, start);
    const text = buffer.subarray(0, read).toString("utf8");
    return start === 0 ? text : text.slice(text.indexOf("\n") + 1);
  } finally {
    fs.closeSync(handle);
  }
}
