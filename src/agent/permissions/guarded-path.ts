import path from "node:path";
import { isInside } from "../tools/containment.js";

/** Directories whose files decide what is run later: hooks, settings, agents. */
const directories = new Set([".git", ".claude", ".troupe"]);

/** Files that a shell, or a tool that hooks into one, runs or reads settings from. */
const files = new Set(
  `.mcp.json .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout
  .kshrc .mkshrc .cshrc .tcshrc .login .logout .inputrc .envrc .gitconfig config.fish`.split(/\s+/),
);

/**
 * Whether writing `target` (absolute) is asked about in every mode, because it can make something run later. Looked at
 * is the path below the deepest of `roots` that it lies in, so that a working directory may itself lie in `.troupe`.
 */
export function isGuardedPath(target: string, roots: readonly string[]): boolean {
  const root = roots
    .filter((one) => isInside(target, one))
    .reduce((a, b) => (b.length > a.length ? b : a), "/");
  const segments = path.relative(root, target).toLowerCase().split(path.sep);
  return segments.some((segment) => directories.has(segment)) || files.has(segments.at(-1) ?? "");
}
