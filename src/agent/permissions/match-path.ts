import path from "node:path";
import picomatch from "picomatch";
import { isInside } from "../tools/containment.js";

export interface PathRuleContext {
  readonly cwd: string;
  /** The person's home directory, for patterns that begin with `~/`. */
  readonly home?: string | undefined;
  /** Ignore case: for rules that deny or ask, because a file system may. */
  readonly ignoreCase: boolean;
}

/**
 * Whether a path rule means `target` (absolute) or a directory that it lies in. Patterns are globs: `/…` absolute, `~/…`
 * in the home directory, others relative to the working directory; one without a slash matches at any depth.
 */
export function matchesPath(pattern: string, target: string, context: PathRuleContext): boolean {
  const { base, glob } = locate(pattern.replace(/\/+$/, ""), context);
  if (!isInside(target, base)) return false;
  const matches = picomatch(glob, { dot: true, nocase: context.ignoreCase });
  const segments = path.relative(base, target).split(path.sep);
  return segments.some((_, index) => matches(segments.slice(0, index + 1).join("/")));
}

function locate(pattern: string, { cwd, home }: PathRuleContext): { base: string; glob: string } {
  if (pattern.startsWith("/")) return { base: "/", glob: pattern.replace(/^\/+/, "") };
  if (pattern.startsWith("~/") && home !== undefined) return { base: home, glob: pattern.slice(2) };
  const relative = pattern.replace(/^(\.\/)+/, "");
  if (!pattern.includes("/")) return { base: cwd, glob: `**/${relative}` };
  const ups = /^(\.\.\/)+/.exec(relative)?.[0] ?? "";
  return { base: path.resolve(cwd, ups), glob: relative.slice(ups.length) };
}
