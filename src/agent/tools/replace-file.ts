import { constants } from "node:fs";
import fsp from "node:fs/promises";
import path from "node:path";
import { errnoOf, TroupeError } from "../../util/errors.js";
import { ensureDirSync } from "../../util/fs.js";
import type { FileState } from "../tool.js";
import { checkReachable, type PathContext } from "./resolve-path.js";

let serial = 0;

/**
 * Writes a whole file at once: a reader sees the old or the new content. With `previous` the file is replaced and keeps
 * its mode, unless it differs from that state by now (`file-changed`); without it the file must not exist
 * (`file-exists`), and missing directories are made. Gives the state of the new file.
 */
export async function replaceFile(
  realPath: string,
  content: Uint8Array,
  previous: { readonly mtimeMs: number; readonly size: number; readonly mode: number } | undefined,
  context: PathContext,
): Promise<{ mtimeMs: number; size: number }> {
  const dir = path.dirname(realPath);
  if (previous === undefined) ensureDirSync(dir, 0o777);
  // A directory on the way may have become a link since the path was resolved.
  await checkReachable(
    path.join(await fsp.realpath(dir), path.basename(realPath)),
    realPath,
    "write",
    context,
  );
  const temporary = path.join(dir, `.troupe-${process.pid}-${++serial}.tmp`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await fsp.open(temporary, flags, 0o666);
  try {
    let state: { mtimeMs: number; size: number };
    try {
      await handle.writeFile(content);
      if (previous !== undefined) await handle.chmod(previous.mode & 0o7777);
      await handle.sync();
      const { mtimeMs, size } = await handle.stat();
      state = { mtimeMs, size };
    } finally {
      await handle.close();
    }
    if (previous === undefined) await linkNew(temporary, realPath);
    else {
      if (!unchanged(await fsp.lstat(realPath), previous)) throw changed(realPath);
      await fsp.rename(temporary, realPath);
    }
    return state;
  } finally {
    await fsp.rm(temporary, { force: true });
  }
}

/** Throws unless the file was read and is as it was then. `verb` completes "Read it before ... it". */
export function checkFresh(
  files: FileState,
  realPath: string,
  given: string,
  now: { readonly mtimeMs: number; readonly size: number },
  verb: "editing" | "overwriting",
): void {
  const known = files.get(realPath);
  if (known === undefined)
    throw new TroupeError("file-unread", `${given} has not been read yet. Read it before ${verb} it.`);
  if (!unchanged(now, known)) throw changed(given);
}

function unchanged(
  a: { readonly mtimeMs: number; readonly size: number },
  b: { readonly mtimeMs: number; readonly size: number },
): boolean {
  return a.mtimeMs === b.mtimeMs && a.size === b.size;
}

function changed(given: string): TroupeError {
  return new TroupeError(
    "file-changed",
    `${given} has changed since it was read, by somebody else or by a command. Read it again before writing.`,
  );
}

async function linkNew(temporary: string, realPath: string): Promise<void> {
  try {
    await fsp.link(temporary, realPath);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "EEXIST")
      throw new TroupeError(
        "file-exists",
        `${realPath} was created meanwhile. Read it before overwriting it.`,
      );
    // Some file systems have no links; a file that appears in this moment is lost there.
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP") throw error;
    await fsp.rename(temporary, realPath);
  }
}
