import { TroupeError } from "../util/errors.js";
import type { Arguments, Command } from "./command.js";
import { parseDuration } from "./durations.js";
import { type OptionSpec, type OptionTable, sharedOptions } from "./option-table.js";

/** A command line as a parser read it, before anything is judged: every option with all its values. */
export interface RawArguments {
  readonly values: ReadonlyMap<string, readonly (string | boolean)[]>;
  readonly positionals: readonly string[];
  readonly rest: readonly string[];
}

/** Checks a command line against its command and converts the values. Wrong usage is a TroupeError of kind `usage`. */
export function checkArguments(command: Command, raw: RawArguments): Arguments<OptionTable> {
  const table: OptionTable = { ...sharedOptions, ...command.options };
  const options: Record<string, unknown> = {};
  for (const [name, spec] of Object.entries(table))
    options[name] = readOption(command, name, spec, raw.values.get(name) ?? []);
  const positionals = command.takesRest ? raw.positionals : [...raw.positionals, ...raw.rest];
  if (options["help"] !== true) checkCount(command, positionals);
  return {
    options: options as Arguments<OptionTable>["options"],
    positionals,
    rest: command.takesRest ? raw.rest : [],
  };
}

/** `troupe send TO [TEXT]`. */
export function usageLine(command: Command): string {
  const words = command.positionals.map((name, index) => (index < command.required ? name : `[${name}]`));
  return ["troupe", command.name, ...words, ...(command.takesRest ? ["[-- ARGS]"] : [])].join(" ");
}

export function usageError(command: Command | undefined, message: string, remedy?: string): TroupeError {
  const more =
    command === undefined ? "troupe --help" : `${usageLine(command)} (see troupe ${command.name} --help)`;
  return new TroupeError("usage", message, { kind: "usage", remedy: remedy ?? more });
}

function checkCount(command: Command, positionals: readonly string[]): void {
  const missing = command.positionals[positionals.length];
  if (positionals.length < command.required && missing !== undefined)
    throw usageError(command, `${command.name}: ${missing} is missing`);
  const extra = positionals[command.positionals.length];
  if (extra !== undefined)
    throw usageError(command, `${command.name}: ${JSON.stringify(extra)} is one argument too many`);
}

function readOption(
  command: Command,
  name: string,
  spec: OptionSpec,
  given: readonly (string | boolean)[],
): unknown {
  if (spec.type === "boolean") return given.length > 0 && given.at(-1) !== false;
  if (spec.multiple) return given.map(String);
  if (given.length > 1)
    throw usageError(command, `${command.name}: --${name} is given ${given.length} times`);
  const value = given[0];
  return value === undefined ? undefined : convert(command, name, spec, String(value));
}

function convert(command: Command, name: string, spec: OptionSpec, value: string): string | number {
  const wrong = (wanted: string) =>
    usageError(command, `${command.name}: --${name} ${JSON.stringify(value)} is not ${wanted}`);
  if (spec.choices !== undefined && !spec.choices.includes(value))
    throw wrong(`one of ${spec.choices.join(", ")}`);
  if (spec.type === "string") return value;
  if (spec.type === "duration") {
    const ms = parseDuration(value);
    if (ms === undefined) throw wrong("a time such as 500ms, 30s or 10m");
    return ms;
  }
  if (!/^\d{1,9}$/.test(value)) throw wrong("a whole number");
  return Number(value);
}
