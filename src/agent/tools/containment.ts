import fsp from "node:fs/promises";
import path from "node:path";
import { errnoOf, TroupeError } from "../../util/errors.js";

/** Whether `inner` is `outer` or lies inside it. Both absolute and normalised; symbolic links are not looked at. */
export function isInside(inner: string, outer: string): boolean {
  const relative = path.relative(outer, inner);
  return (
    relative === "" ||
    (relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative))
  );
}

/**
 * Whether `target` may be reached: the deepest of all listed directories that contain it decides. All paths are real
 * paths. In none of them means no.
 */
export function isReachable(target: string, allowed: readonly string[], denied: readonly string[]): boolean {
  return depthIn(target, allowed) > depthIn(target, denied);
}

/**
 * Where `target` (absolute) really leads, every symbolic link followed, also where the last components do not exist yet
 * or a link dangles. Throws TroupeError `path-unresolvable` where links loop or a file is used as a directory.
 */
export async function realTarget(target: string): Promise<string> {
  return follow(path.resolve(target), 40);
}

/** The real paths of those directories that exist. */
export async function realDirs(dirs: readonly string[]): Promise<string[]> {
  const real = await Promise.all(dirs.map((dir) => realPathIfExists(dir)));
  return real.filter((dir) => dir !== undefined);
}

async function follow(target: string, linksLeft: number): Promise<string> {
  const real = await realPathIfExists(target);
  if (real !== undefined) return real;
  if (linksLeft === 0) throw unresolvable(target);
  const link = await readLinkIfAny(target);
  if (link !== undefined) return follow(path.resolve(path.dirname(target), link), linksLeft - 1);
  return path.join(await follow(path.dirname(target), linksLeft), path.basename(target));
}

async function realPathIfExists(target: string): Promise<string | undefined> {
  try {
    return await fsp.realpath(target);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT") return undefined;
    if (code === "ELOOP" || code === "ENOTDIR" || code === "ENAMETOOLONG") throw unresolvable(target, error);
    throw error;
  }
}

async function readLinkIfAny(target: string): Promise<string | undefined> {
  try {
    return await fsp.readlink(target);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" || code === "EINVAL") return undefined;
    throw error;
  }
}

function unresolvable(target: string, cause?: unknown): TroupeError {
  return new TroupeError(
    "path-unresolvable",
    `${target} leads nowhere: a loop of links, or a file used as a directory`,
    {
      kind: "usage",
      cause,
    },
  );
}

function depthIn(target: string, dirs: readonly string[]): number {
  return Math.max(0, ...dirs.filter((dir) => isInside(target, dir)).map((dir) => dir.split(path.sep).length));
}
