import { constants } from "node:fs";
import fsp from "node:fs/promises";
import path from "node:path";
import { errnoOf, TroupeError } from "../../util/errors.js";
import type { ToolContext } from "../tool.js";
import { isReachable, realDirs, realTarget } from "./containment.js";

export type PathContext = Pick<ToolContext, "cwd" | "addedDirs" | "deniedDirs" | "outputDir">;

/** A path as the model gave it, made absolute; links are not looked at. Refuses what no file can be called. */
export function absolutePath(given: string, cwd: string): string {
  if (given === "" || given.includes("\0"))
    throw new TroupeError("path-invalid", "The path is empty or holds a NUL.");
  return path.resolve(cwd, given);
}

/**
 * The real path that `given` leads to, which need not exist. Throws TroupeError `path-outside` unless it lies inside
 * the working directories; to read, also the agent's own output directory.
 */
export async function resolvePath(
  given: string,
  access: "read" | "write",
  context: PathContext,
): Promise<string> {
  const target = await realTarget(absolutePath(given, context.cwd));
  await checkReachable(target, given, access, context);
  return target;
}

/**
 * Opens an existing regular file to read, never following a link in its last component or waiting for a pipe, and
 * checks again that what was opened lies where it may be reached. The caller closes the handle.
 */
export async function openForReading(
  realPath: string,
  given: string,
  context: PathContext,
): Promise<fsp.FileHandle> {
  let handle: fsp.FileHandle;
  try {
    handle = await fsp.open(realPath, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    throw readable(error, given, context.cwd);
  }
  try {
    const stats = await handle.stat();
    if (stats.isDirectory())
      throw new TroupeError("path-is-directory", `${given} is a directory. List it with Glob or with ls.`);
    if (!stats.isFile())
      throw new TroupeError(
        "path-not-regular",
        `${given} is not a regular file but a pipe, socket or device.`,
      );
    await checkReachable(await realPathOf(handle, realPath), given, "read", context);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Throws `path-outside` if `realPath` may not be reached; the message names the directories that may. */
export async function checkReachable(
  realPath: string,
  given: string,
  access: "read" | "write",
  context: PathContext,
): Promise<void> {
  const allowed = [context.cwd, ...context.addedDirs, ...(access === "read" ? [context.outputDir] : [])];
  const [inside, denied] = await Promise.all([realDirs(allowed), realDirs(context.deniedDirs ?? [])]);
  if (isReachable(realPath, inside, denied)) return;
  const where = realPath === path.resolve(context.cwd, given) ? "" : ` (it leads to ${realPath})`;
  throw new TroupeError(
    "path-outside",
    `${given} lies outside of the directories that may be reached${where}: ${[context.cwd, ...context.addedDirs].join(", ")}.`,
  );
}

/** Where an open file really is now. */
async function realPathOf(handle: fsp.FileHandle, opened: string): Promise<string> {
  if (process.platform === "linux") return fsp.readlink(`/proc/self/fd/${handle.fd}`);
  const real = await fsp.realpath(opened);
  const [named, held] = await Promise.all([fsp.stat(real), handle.stat()]);
  if (named.ino !== held.ino || named.dev !== held.dev)
    throw new TroupeError("path-changed", `${opened} was replaced while it was opened. Try again.`);
  return real;
}

function readable(error: unknown, given: string, cwd: string): unknown {
  const code = errnoOf(error);
  if (code === "ENOENT")
    return new TroupeError("file-missing", `There is no file ${given} (working directory: ${cwd}).`);
  if (code === "ELOOP") return new TroupeError("path-changed", `${given} became a symbolic link. Try again.`);
  if (code === "EACCES")
    return new TroupeError("file-unreadable", `${given} may not be read: permission denied.`);
  if (code === "ENXIO")
    return new TroupeError("path-not-regular", `${given} is not a regular file but a socket or device.`);
  return error;
}
