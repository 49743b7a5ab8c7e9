import fs from "node:fs";
import fsp from "node:fs/promises";
import path from "node:path";
import { errnoOf } from "./errors.js";

let serial = 0;

/** Creates `dir` and its missing parents with mode 0700. An existing directory is left as it is. */
export async function ensureDir(dir: string): Promise<void> {
  await fsp.mkdir(dir, { recursive: true, mode: 0o700 });
}

/**
 * Replaces `file` as a whole: temporary file in the same directory (mode 0600), fsync, rename. A reader sees the old
 * or the new content, never a part; after a crash one of the two is there.
 */
export async function writeFileAtomic(file: string, content: string, mode = 0o600): Promise<void> {
  const temporary = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}.${++serial}.tmp`);
  try {
    const handle = await fsp.open(temporary, "wx", mode);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await fsp.rename(temporary, file);
  } catch (error) {
    await fsp.rm(temporary, { force: true });
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
  const handle = await fsp.open(dir, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
