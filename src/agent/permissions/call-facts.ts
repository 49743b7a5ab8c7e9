import path from "node:path";
import type { PermissionCall } from "../tool.js";
import { isInside, isReachable, realDirs, realTarget } from "../tools/containment.js";
import { type ParsedCommand, parseCommand, type SimpleCommand } from "./parse-command.js";

/** What deciding about one call needs to know, gathered once. */
export interface CallFacts {
  readonly subjects: readonly string[];
  /** For commands: what it runs, or undefined where that is not certain. */
  readonly command: ParsedCommand | undefined;
  readonly readOnly: boolean;
  /** Whether the tool never asks about such a call. */
  readonly alwaysAllowed: boolean;
  /** The paths that the call names; of a command that was not understood, whatever may be one. */
  readonly paths: readonly CallPath[];
  /** The working directories, as given and as they really are; `cwd` first in each. */
  readonly roots: { readonly written: readonly string[]; readonly real: readonly string[] };
}

export interface CallPath {
  /** As the call has it, made absolute. */
  readonly written: string;
  /** Where it really leads; undefined for a loop of links. */
  readonly real: string | undefined;
  /** Inside the working directories, and nothing that is closed in it. */
  readonly inside: boolean;
  /** In a closed directory. */
  readonly closed: boolean;
}

export interface Territory {
  readonly protectedDirs: readonly string[];
  /** Directories inside the protected ones that are open all the same. */
  readonly openDirs: readonly string[];
  readonly home: string | undefined;
}

/** More words than this in a command are not looked at, and it does not count as understood. */
const maxWords = 500;

export async function gatherFacts(call: PermissionCall, territory: Territory): Promise<CallFacts> {
  const { tool, input, cwd } = call;
  const subjects = tool.permissionSubjects?.(input, { cwd }) ?? [];
  const isCommand = tool.subjectKind === "command";
  const command = isCommand ? parseAll(subjects) : undefined;
  const named = isCommand ? [cwd, ...commandPaths(subjects, command, territory.home)] : subjects;
  const given = [cwd, ...call.addedDirs];
  const [real, open, closed] = await Promise.all([
    realDirs(given),
    realDirs(territory.openDirs),
    realDirs(territory.protectedDirs),
  ]);
  const look = async (written: string): Promise<CallPath> => {
    // What cannot be resolved is nowhere inside: it is asked about.
    const target = await realTarget(written).catch(() => undefined);
    if (target === undefined) return { written, real: undefined, inside: false, closed: false };
    const holdsClosed = isCommand && closed.some((dir) => isInside(dir, target));
    return {
      written,
      real: target,
      inside: isReachable(target, real, closed) && !holdsClosed,
      closed: isReachable(target, closed, [...real, ...open]),
    };
  };
  const paths = tool.subjectKind === "name" || tool.subjectKind === undefined ? [] : named;
  return {
    subjects,
    command,
    readOnly: tool.isReadOnly(input),
    alwaysAllowed: tool.alwaysAllowed === true && tool.goesFurther?.(input) !== true,
    paths: await Promise.all([...new Set(paths.map((one) => path.resolve(cwd, one)))].map(look)),
    roots: { written: given, real },
  };
}

function parseAll(subjects: readonly string[]): ParsedCommand | undefined {
  const commands: SimpleCommand[] = [];
  for (const subject of subjects) {
    const parsed = parseCommand(subject);
    if (parsed === undefined) return undefined;
    commands.push(...parsed.commands);
  }
  return commands.flatMap(({ words }) => words).length > maxWords ? undefined : { commands };
}

function commandPaths(
  subjects: readonly string[],
  command: ParsedCommand | undefined,
  home: string | undefined,
): string[] {
  if (command !== undefined) return command.commands.flatMap(({ words }) => words.slice(1).flatMap(pathsIn));
  const words = subjects.flatMap((text) => text.split(/[\s'"`;&|<>(){}=]+/));
  return words
    .filter((word) => word !== "" && !word.includes("\0"))
    .slice(0, maxWords)
    .map((word) => (home === undefined ? word : word.replace(/^(~|\$HOME)(?=\/|$)/, home)));
}

/** What in an argument may be a path: the argument, or the value within an option. */
function pathsIn(word: string): string[] {
  if (!word.startsWith("-")) return word === "" ? [] : [word];
  const value = /^-[^=]*=(.+)$/s.exec(word)?.[1] ?? /^-\w([./].*)$/s.exec(word)?.[1];
  return value === undefined ? [] : [value];
}
