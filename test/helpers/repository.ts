import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

/** Makes `dir` a git repository with these files in one commit. Gives a `git` for it that returns what it prints. */
export function makeRepository(
  dir: string,
  files: Readonly<Record<string, string>>,
): (...args: string[]) => string {
  const git = (...args: string[]): string =>
    execFileSync("git", ["-C", dir, ...args], { encoding: "utf8" }).trimEnd();
  git("init", "-q", "-b", "main");
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
    fs.writeFileSync(path.join(dir, name), text);
  }
  git("add", "-A");
  git("commit", "-q", "-m", "First things first", "--allow-empty");
  return git;
}
