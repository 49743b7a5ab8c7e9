import Yargs from "yargs";
import { nearest } from "../team/nearest.js";
import { version } from "../util/version.js";
import { type RawArguments, usageError, usageLine } from "./arguments.js";
import type { Command } from "./command.js";
import { commands } from "./commands/index.js";
import type { Io } from "./io.js";
import { type OptionTable, sharedOptions } from "./option-table.js";
import { runCommand } from "./run-command.js";

/** A command line, read and checked, or what to print instead. */
export type Line =
  | { readonly type: "command"; readonly command: Command; readonly raw: RawArguments }
  | { readonly type: "print"; readonly text: string };

/**
 * Reads a whole command line by the full parser. Throws TroupeError of kind `usage` for unknown commands and options,
 * with the nearest one as remedy; values and counts are judged by {@link checkArguments}.
 */
export async function parseLine(
  argv: readonly string[],
  table: readonly Command[] = commands,
): Promise<Line> {
  const parser = createParser(table);
  const parsed = await read(parser, argv);
  const [name, ...positionals] = parsed._.map(String);
  const command = table.find((candidate) => candidate.name === name);
  if (command === undefined) {
    if (name === undefined && parsed["version"] === true) return { type: "print", text: `${version}\n` };
    if (name === undefined || name === "help")
      return { type: "print", text: await helpOf(parser, table, positionals[0]) };
    throw unknown(
      "command",
      name,
      visible(table).map((candidate) => candidate.name),
    );
  }
  const options: OptionTable = { ...sharedOptions, ...command.options };
  checkNames(command, options, parsed);
  if (parsed["help"] === true) return { type: "print", text: await helpOf(parser, table, name) };
  const values = new Map(
    Object.keys(options).flatMap((key) => {
      const value = parsed[key];
      if (value === undefined) return [];
      return [[key, (Array.isArray(value) ? value : [value]) as (string | boolean)[]] as const];
    }),
  );
  const rest = (parsed["--"] as readonly unknown[] | undefined) ?? [];
  return { type: "command", command, raw: { values, positionals, rest: rest.map(String) } };
}

/** Reads and runs a command line; resolves to its exit code. Throws what the command throws. */
export async function runLine(argv: readonly string[], io: Io): Promise<number> {
  const line = await parseLine(argv);
  if (line.type === "command") return runCommand(line.command, line.raw, io);
  await io.print(line.text);
  return 0;
}

function createParser(table: readonly Command[]) {
  const parser = Yargs([])
    .scriptName("troupe")
    .exitProcess(false)
    .fail(false)
    .help(false)
    .version(false)
    .detectLocale(false)
    .wrap(null)
    .parserConfiguration(parserConfiguration)
    .usage("troupe COMMAND [OPTIONS]")
    .option("version", { type: "boolean", describe: "show the version" })
    .epilogue("troupe COMMAND --help tells more.");
  addOptions(parser, sharedOptions);
  for (const command of table)
    parser.command({
      command: command.name,
      describe: command.hidden ? false : command.describe,
      builder: (own) => {
        addOptions(own, command.options);
        own
          .usage(`${usageLine(command)}\n\n${command.describe}.`)
          .hide("version")
          .epilogue("");
        for (const [line, meaning] of command.examples) own.example(line, meaning);
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
  for (const [name, spec] of Object.entries(table))
    parser.option(name, {
      type: spec.type === "boolean" ? "boolean" : "string",
      describe: spec.choices === undefined ? spec.describe : `${spec.describe} (${spec.choices.join(", ")})`,
      ...(spec.short === undefined ? {} : { alias: spec.short }),
      ...(spec.type === "boolean" ? {} : { nargs: 1, requiresArg: true }),
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

async function helpOf(parser: Parser, table: readonly Command[], name: string | undefined): Promise<string> {
  const command = table.find((candidate) => candidate.name === name);
  const own = createParser(table);
  if (command !== undefined) await own.parseAsync([command.name]);
  return `${await (command === undefined ? parser : own).getHelp()}\n`;
}

function checkNames(command: Command, options: OptionTable, parsed: Readonly<Record<string, unknown>>): void {
  const shorts = Object.values(options).flatMap((spec) => spec.short ?? []);
  const known = new Set([...Object.keys(options), ...shorts, "_", "$0", "--"]);
  const odd = Object.keys(parsed).find((key) => !known.has(key));
  if (odd !== undefined) throw unknown("option", odd, Object.keys(options), command);
}

function unknown(
  what: "command" | "option",
  typed: string,
  candidates: readonly string[],
  command?: Command,
) {
  const dashes = what === "command" ? "" : typed.length === 1 ? "-" : "--";
  const near = nearest(typed, candidates);
  const subject = `unknown ${what} ${dashes}${typed}${command === undefined ? "" : ` of troupe ${command.name}`}`;
  return usageError(command, subject, near === undefined ? undefined : `did you mean ${dashes}${near}?`);
}

function visible(table: readonly Command[]): readonly Command[] {
  return table.filter((command) => !command.hidden);
}
