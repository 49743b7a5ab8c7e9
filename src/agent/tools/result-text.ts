import path from "node:path";
import { isInside } from "./containment.js";

/** A path as results show it: relative where it lies inside `cwd`, absolute elsewhere. */
export function displayPath(target: string, cwd: string): string {
  return isInside(target, cwd) ? path.relative(cwd, target) || "." : target;
}

/** `1 file`, `3 files`. */
export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
