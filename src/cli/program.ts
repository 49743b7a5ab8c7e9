import Yargs from "yargs";
import { nearest } from "../team/nearest.js";
import { version } from "../util/version.js";
import { type RawArguments, usageError } from "./arguments.js";
import type { Command } from "./command.js";
import { commands } from "./commands/index.js";
import { helpText, overview } from "./help.js";
import type { Io } from "./io.js";
import { type OptionTable, sharedOptions } from "./option-table.js";
import { runCommand } from "./run-command.js";

/** A command line, read and checked, or what to print instead. */
export type Line =
  | { readonly type: "command"; readonly command: Command; readonly raw: RawArguments }
  | { readonly type: "print"; readonly text: string };

/**
 * Reads a whole command line by the full parser. Throws TroupeError of kind `usage` for unknown commands and options,
 * with the nearest one as remedy; values and counts are judged when the command is run.
 */
export async function parseLine(
  argv: readonly string[],
  table: readonly Command[] = commands,
): Promise<Line> {
  const parsed = await read(createParser(table), argv);
  const [name, topic] = parsed._.map(String);
  const asked = name === "help" ? topic : name;
  const command = table.find((candidate) => candidate.name === asked);
  if (command === undefined) {
    if (asked !== undefined) throw unknownName("command", asked, commandNames(table));
    if (parsed["version"] === true) return { type: "print", text: `${version}\n` };
    return { type: "print", text: overview(table) };
  }
  if (name === "help" || parsed["help"] === true) return { type: "print", text: helpText(command) };
  const options: OptionTable = { ...sharedOptions, ...command.options };
  checkNames(command, options, parsed);
  const values = new Map(
    Object.keys(options).flatMap((key) => {
      const value = parsed[key];
      if (value === undefined) return [];
      return [[key, (Array.isArray(value) ? value : [value]) as (string | boolean)[]] as const];
    }),
  );
  const rest = (parsed["--"] as readonly unknown[] | undefined) ?? [];
  const positionals = parsed._.slice(1).map(String);
  return { type: "command", command, raw: { values, positionals, rest: rest.map(String) } };
}

/** Reads and runs a command line; resolves to its exit code. Throws what the command throws. */
export async function runLine(argv: readonly string[], io: Io): Promise<number> {
  const line = await parseLine(argv);
  if (line.type === "command") return runCommand(line.command, line.raw, io);
  await io.print(line.text);
  return 0;
}

/** Nothing is described or shown: the help is ours, and yargs lays its own out with every line it reads (10 ms). */
function createParser(table: readonly Command[]) {
  const parser = Yargs([])
    .exitProcess(false)
    .fail(false)
    .help(false)
    .version(false)
    .detectLocale(false)
    .parserConfiguration(parserConfiguration)
    .option("version", { type: "boolean", hidden: true });
  addOptions(parser, sharedOptions);
  for (const command of table)
    parser.command({
      command: command.name,
      describe: false,
      builder: (own) => {
        addOptions(own, command.options);
        return own;
      },
      handler: () => {},
    });
  return parser;
}

/** Names and values stay as typed: no numbers, no dots with a meaning, no second spelling of an option. */
const parserConfiguration = {
  "boolean-negation": false,
  "camel-case-expansion": false,
  "dot-notation": false,
  "duplicate-arguments-array": true,
  "parse-numbers": false,
  "parse-positional-numbers": false,
  "populate--": true,
  "strip-aliased": true,
} as const;

type Parser = ReturnType<typeof createParser>;

function addOptions(parser: { option: Parser["option"] }, table: OptionTable): void {
  for (const [name, { type, short }] of Object.entries(table))
    parser.option(name, {
      type: type === "boolean" ? "boolean" : "string",
      hidden: true,
      ...(short === undefined ? {} : { alias: short }),
      // Without a number of its own a boolean swallows a `true` or `false` that follows, which may be a message's text.
      ...(type === "boolean" ? { nargs: 0 } : { nargs: 1, requiresArg: true }),
    });
}

async function read(parser: Parser, argv: readonly string[]) {
  try {
    return await parser.parseAsync([...argv]);
  } catch (error) {
    if (error instanceof Error && error.name === "YError") throw usageError(undefined, error.message);
    throw error;
  }
}

function checkNames(command: Command, options: OptionTable, parsed: Readonly<Record<string, unknown>>): void {
  const shorts = Object.values(options).flatMap((spec) => spec.short ?? []);
  const known = new Set([...Object.keys(options), ...shorts, "_", "$0", "--"]);
  const odd = Object.keys(parsed).find((key) => !known.has(key));
  if (odd !== undefined) throw unknownName("option", odd, Object.keys(options), command);
}

function unknownName(
  what: "command" | "option",
  typed: string,
  candidates: readonly string[],
  command?: Command,
) {
  const dashes = what === "command" ? "" : typed.length === 1 ? "-" : "--";
  const near = nearest(typed, candidates);
  const subject = `unknown ${what} ${dashes}${typed}${command === undefined ? "" : ` of troupe ${command.name}`}`;
  return usageError(
    command,
    subject,
    near === undefined ? undefined : `did you mean ${typed.length === 1 ? "--" : dashes}${near}?`,
  );
}

function commandNames(table: readonly Command[]): string[] {
  return table.filter((command) => !command.hidden).map((command) => command.name);
}
