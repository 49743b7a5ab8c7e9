import { constants } from "node:fs";
import fsp from "node:fs/promises";
import path from "node:path";
import { errnoOf } from "../util/errors.js";
import { ExecError, exec } from "../util/exec.js";
import { printable } from "../util/text.js";
import { isInside } from "./tools/containment.js";

export interface ProjectContextOptions {
  /** The agent's working directory, absolute. */
  readonly cwd: string;
  /** The environment for git. */
  readonly env: Readonly<Record<string, string>>;
  /** The person's home directory, for `~/.claude/CLAUDE.md`; absent: not looked at. */
  readonly home?: string;
}

/** Most characters of all instructions together, and of the git snapshot. */
const maxChars = 40_000;
const gitTimeoutMs = 10_000;
/** Of two names in one directory both are read, unless they are one file. */
const instructionFiles = ["CLAUDE.md", "AGENTS.md"] as const;

/**
 * What an agent is told of its project when its session begins: the person's and the project's instructions, from the
 * repository's root down to the working directory, and a snapshot of git. Both are bounded and say where they were cut.
 * Undefined if there is nothing to tell. Never throws but for an abort: a repository that git cannot read is left out.
 */
export async function projectContext(
  { cwd, env, home }: ProjectContextOptions,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const git = gitIn(cwd, env, signal);
  const root = (await git(["rev-parse", "--show-toplevel"]))?.replace(/\n$/, "");
  const instructions = await readInstructions(cwd, root ?? cwd, home);
  const snapshot = root === undefined ? undefined : await gitSnapshot(git);
  signal?.throwIfAborted();
  const parts = [instructions, snapshot].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join("\n\n");
}

type Git = (args: readonly string[]) => Promise<string | undefined>;

/** Runs git without its optional locks and without the monitor that a repository's settings may start. */
function gitIn(cwd: string, env: Readonly<Record<string, string>>, signal: AbortSignal | undefined): Git {
  return async (args) => {
    const argv = [
      "git",
      "--no-optional-locks",
      "-c",
      "core.fsmonitor=false",
      "-c",
      "log.showSignature=false",
      ...args,
    ];
    try {
      return (await exec(argv, { cwd, env, timeoutMs: gitTimeoutMs, maxBytes: 4 * maxChars }, signal)).stdout;
    } catch (error) {
      // No git, no repository, no commit yet, or too slow: there is nothing to tell.
      if (error instanceof ExecError) return undefined;
      throw error;
    }
  };
}

async function gitSnapshot(git: Git): Promise<string> {
  const [branch, status, log] = await Promise.all([
    git(["branch", "--show-current"]),
    git(["status", "--short", "--untracked-files=normal"]),
    git(["log", "-5", "--no-color", "--format=%h %s"]),
  ]);
  const name = branch?.trim();
  const text = `Branch: ${name === undefined || name === "" ? "(none: detached)" : name}
Status:
${status?.trimEnd() || "(clean)"}
Latest commits:
${log?.trimEnd() || "(none)"}`;
  return `# Git, when this conversation began\n${cut(printable(text), maxChars)}`;
}

async function readInstructions(
  cwd: string,
  root: string,
  home: string | undefined,
): Promise<string | undefined> {
  const real = await fsp.realpath(cwd);
  const own = home === undefined ? [] : [path.join(home, ".claude", "CLAUDE.md")];
  const project = directoriesDown(isInside(real, root) ? root : real, real).flatMap((dir) =>
    instructionFiles.map((name) => path.join(dir, name)),
  );
  const seen = new Set<string>();
  const blocks: string[] = [];
  let left = maxChars;
  for (const file of [...own, ...project]) {
    const found = await readInside(file, own.includes(file) ? path.dirname(file) : root);
    if (found === undefined || seen.has(found.real) || found.text.trim() === "") continue;
    seen.add(found.real);
    const text = cut(found.text.trim(), left);
    left = Math.max(0, left - text.length);
    blocks.push(`## ${file}\n${text}`);
  }
  if (blocks.length === 0) return undefined;
  return `# Instructions of the person and the project
They hold for all of your work here, later ones before earlier ones; what you are told in this conversation comes first.

${blocks.join("\n\n")}`;
}

/** `top`, and every directory on the way down to `bottom`. */
function directoriesDown(top: string, bottom: string): string[] {
  const steps = path
    .relative(top, bottom)
    .split(path.sep)
    .filter((step) => step !== "");
  return [top, ...steps.map((_, index) => path.join(top, ...steps.slice(0, index + 1)))];
}

/** A regular file's text, bounded; undefined where there is none, or it leads out of `dir`. */
async function readInside(file: string, dir: string): Promise<{ real: string; text: string } | undefined> {
  let handle: fsp.FileHandle | undefined;
  try {
    const real = await fsp.realpath(file);
    if (!isInside(real, await fsp.realpath(dir))) return undefined;
    handle = await fsp.open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (!(await handle.stat()).isFile()) return undefined;
    const buffer = Buffer.alloc(4 * maxChars);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    return { real, text: printable(new TextDecoder().decode(buffer.subarray(0, bytesRead))) };
  } catch (error) {
    const code = errnoOf(error);
    if (code !== undefined && ["ENOENT", "ENOTDIR", "EACCES", "ELOOP", "ENXIO"].includes(code))
      return undefined;
    throw error;
  } finally {
    await handle?.close();
  }
}

function cut(text: string, limit: number): string {
  return text.length <= limit
    ? text
    : `${text.slice(0, limit)}\n[… cut here: ${text.length - limit} more characters]`;
}
