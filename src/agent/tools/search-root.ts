import type { Stats } from "node:fs";
import fsp from "node:fs/promises";
import path from "node:path";
import { errnoOf, TroupeError } from "../../util/errors.js";
import type { ToolContext } from "../tool.js";
import { isInside, realDirs } from "./containment.js";
import { resolvePath } from "./resolve-path.js";

/** Where a search runs. */
export interface SearchRoot {
  /** Real path of the directory. */
  readonly dir: string;
  /** The one file to search, as a name in `dir`; absent for the whole directory. */
  readonly file?: string;
  /** Directories inside `dir`, relative to it, that must not be entered. */
  readonly closed: readonly string[];
}

/** Resolves the `path` of a search; absent means the working directory. */
export async function searchRoot(given: string | undefined, context: ToolContext): Promise<SearchRoot> {
  const target = await resolvePath(given ?? ".", "read", context);
  const stats = await statOf(target, given ?? context.cwd);
  if (!stats.isDirectory() && !stats.isFile())
    throw new TroupeError("path-not-regular", `${given} is neither a directory nor a regular file.`);
  const dir = stats.isDirectory() ? target : path.dirname(target);
  const denied = await realDirs(context.deniedDirs ?? []);
  const closed = denied
    .filter((one) => one !== dir && isInside(one, dir))
    .map((one) => path.relative(dir, one));
  return stats.isDirectory() ? { dir, closed } : { dir, file: path.basename(target), closed };
}

async function statOf(target: string, given: string): Promise<Stats> {
  try {
    return await fsp.stat(target);
  } catch (cause) {
    if (errnoOf(cause) !== "ENOENT") throw cause;
    throw new TroupeError("file-missing", `There is no file or directory ${given}.`, { cause });
  }
}
