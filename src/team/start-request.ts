import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { chooseBackend, createProbes } from "../../backends/index.js";
import { TroupeError } from "../util/errors.js";
import { troupeHome } from "./paths.js";
import { projectRootOf } from "./project-root.js";
import type { StartRequest } from "./start.js";
import { loadTeamFile } from "./team-file/load.js";
import type { TeamFile } from "./team-file/schema.js";
import { tmuxProgram } from "./tmux-program.js";

/** How a team is asked for on a command line. */
export interface StartOptions {
  readonly command: "up" | "run";
  /** A team file's path, or for `run` the task in words. */
  readonly what: string;
  readonly backend: "auto" | "tmux" | "iterm2" | "in-process" | undefined;
  readonly model: string | undefined;
  readonly modelScript: string | undefined;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdinIsTerminal: boolean;
  readonly stderrIsTerminal: boolean;
  /** The command that runs this troupe. */
  readonly troupe: readonly string[];
}

export interface PlannedStart {
  readonly request: StartRequest;
  /** Advice that goes with the choice of the backend. */
  readonly hint?: string;
}

/**
 * Reads the team file, or makes one of the task, and settles the backend, the model and the project's root. Changes
 * nothing. Throws TroupeError of kind `usage` for a bad file and `unavailable` for a backend that cannot be used.
 */
export async function planStart(options: StartOptions): Promise<PlannedStart> {
  const { cwd, env } = options;
  const isFile = namesFile(options.what, cwd);
  if (!isFile && options.command === "up")
    throw new TroupeError("no-team-file", `there is no team file ${options.what}`, { kind: "usage" });
  const source = path.resolve(cwd, options.what);
  const file = isFile ? loadTeamFile(source, options.what) : taskTeam(options.what);
  const explicit = options.backend ?? file.backend;
  const choice = await chooseBackend({
    command: options.command,
    ...(explicit === undefined ? {} : { explicit }),
    env,
    stdinIsTerminal: options.stdinIsTerminal,
    stderrIsTerminal: options.stderrIsTerminal,
    probe: createProbes(env, tmuxProgram(env)),
  });
  const model = options.model ?? file.model;
  const modelScript =
    options.modelScript !== undefined
      ? path.resolve(cwd, options.modelScript)
      : file.modelScript && path.resolve(path.dirname(source), file.modelScript);
  return {
    request: {
      file,
      home: troupeHome(env),
      projectRoot: projectRootOf(cwd),
      backend: {
        type: choice.type,
        reason: choice.reason,
        ...("place" in choice ? { place: choice.place } : {}),
      },
      ...(model === undefined ? {} : { model }),
      ...(modelScript === undefined ? {} : { modelScript }),
      troupe: [...options.troupe],
    },
    ...(choice.hint === undefined ? {} : { hint: choice.hint }),
  };
}

/** A task may end in a file name, or be the name of a directory; a path to a team file that is missing has no blanks. */
function namesFile(what: string, cwd: string): boolean {
  if (/^\S+\.ya?ml$/i.test(what)) return true;
  const file = path.resolve(cwd, what);
  return fs.existsSync(file) && !fs.statSync(file).isDirectory();
}

/** The team of `troupe run "task"`: one agent with everything, which leads. */
function taskTeam(task: string): TeamFile {
  return {
    name: `task-${randomBytes(2).toString("hex")}`,
    lead: { agent: "general-purpose", prompt: task },
    teammates: [],
  };
}
