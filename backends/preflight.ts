import fs from "node:fs";
import path from "node:path";
import { errnoOf } from "../src/util/errors.js";
import { oneLine } from "../src/util/text.js";
import type { TeammateSpawnConfig } from "./types.js";

/** Why a spawn cannot succeed, found before anything is started. */
export interface LaunchProblem {
  readonly code: "cwd-missing" | "program-missing" | "nul-in-argument";
  readonly reason: string;
}

/** Looks whether the directory and the program of a spawn are there; undefined if they are. */
export function findLaunchProblem(config: TeammateSpawnConfig): LaunchProblem | undefined {
  const { cwd, env, launch } = config;
  const words = [cwd, config.runDir, ...launch.argv, ...Object.entries(env).flat()];
  if (words.some((word) => word.includes("\0")))
    return { code: "nul-in-argument", reason: "an argument, a variable or a path holds a NUL character" };
  if (!isDirectory(cwd)) return { code: "cwd-missing", reason: `there is no directory ${oneLine(cwd)}` };
  const [program = ""] = launch.argv;
  if (findProgram(program, env["PATH"] ?? "", cwd) !== undefined) return undefined;
  const reason = program.includes("/")
    ? `${oneLine(program)} is not there or is not executable`
    : `there is no program ${oneLine(JSON.stringify(program))} in the teammate's PATH`;
  return { code: "program-missing", reason };
}

/** The executable file that `program` means, as execvp(3) looks for it from `cwd`, or undefined. */
export function findProgram(program: string, searchPath: string, cwd: string): string | undefined {
  if (program === "") return undefined;
  if (program.includes("/")) return executable(path.resolve(cwd, program));
  for (const dir of searchPath.split(":")) {
    const found = executable(path.resolve(cwd, dir, program));
    if (found !== undefined) return found;
  }
  return undefined;
}

function executable(file: string): string | undefined {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile() ? file : undefined;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

function isDirectory(dir: string): boolean {
  try {
    return fs.statSync(dir).isDirectory();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}
