import fs from "node:fs";
import path from "node:path";
import { errnoOf } from "../src/util/errors.js";
import { oneLine } from "../src/util/text.js";
import type { TeammateSpawnConfig } from "./types.js";

/** Why a spawn cannot succeed, found before anything is started. */
export interface LaunchProblem {
  readonly code: "cwd-missing" | "program-missing" | "nul-in-argument" | "argument-too-long";
  readonly reason: string;
}

/**
 * What execve(2) takes in bytes. Linux: 32 pages for one string with its end, and for all together a quarter of the
 * usual 8 MiB stack. macOS: 1 MiB for all. What env(1) and a shell add of their own is kept free.
 */
const limits =
  process.platform === "linux"
    ? { string: 131_071, all: 2 * 1024 * 1024 - 64 * 1024 }
    : { string: Number.POSITIVE_INFINITY, all: 1024 * 1024 - 64 * 1024 };

/** Looks whether the directory and the program of a spawn are there; undefined if they are. */
export function findLaunchProblem(config: TeammateSpawnConfig): LaunchProblem | undefined {
  const { cwd, env, launch } = config;
  const words = [cwd, config.runDir, ...launch.argv, ...Object.entries(env).flat()];
  if (words.some((word) => word.includes("\0")))
    return { code: "nul-in-argument", reason: "an argument, a variable or a path holds a NUL character" };
  const tooLong = findTooLong(launch.argv, env);
  if (tooLong !== undefined) return { code: "argument-too-long", reason: tooLong };
  if (!isDirectory(cwd)) return { code: "cwd-missing", reason: `there is no directory ${oneLine(cwd)}` };
  const [program = ""] = launch.argv;
  if (findProgram(program, env["PATH"] ?? "", cwd) !== undefined) return undefined;
  const reason = program.includes("/")
    ? `${oneLine(program)} is not there or is not executable`
    : `there is no program ${oneLine(JSON.stringify(program))} in the teammate's PATH`;
  return { code: "program-missing", reason };
}

/** Why the system would refuse the program for its arguments and variables, in words; undefined if it would not. */
function findTooLong(argv: readonly string[], env: Readonly<Record<string, string>>): string | undefined {
  const remedy = "put it into a file and pass the file's path";
  const variables = Object.entries(env).map(([name, value]) => ({
    what: `the variable ${oneLine(name, 40)}`,
    bytes: Buffer.byteLength(name) + 1 + Buffer.byteLength(value),
  }));
  const words = argv.map((word, index) => ({
    what: index === 0 ? "the program's name" : `argument ${index}`,
    bytes: Buffer.byteLength(word),
  }));
  const strings = [...words, ...variables];
  const long = strings.find(({ bytes }) => bytes > limits.string);
  if (long !== undefined)
    return `${long.what} has ${long.bytes} bytes, and the system takes ${limits.string} at most: ${remedy}`;
  // Each is passed with its end and a pointer to it.
  const all = strings.reduce((sum, { bytes }) => sum + bytes + 9, 0);
  if (all <= limits.all) return undefined;
  return `arguments and variables have ${all} bytes together, and the system takes ${limits.all} at most: ${remedy}`;
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
