import { parseCommand } from "./parse-command.js";
import { gitSubcommands, type Options, readers } from "./read-only-table.js";

/** Whether a command line does nothing but read: it parses, and every command in it is in the table with these options. */
export function isReadOnlyCommand(text: string): boolean {
  return parseCommand(text)?.commands.every(({ words }) => onlyReads(words)) ?? false;
}

/** Whether one command, as literal words, does nothing but read. */
export function onlyReads(words: readonly string[]): boolean {
  const [name = "", ...args] = words;
  if (name === "git") return gitOnlyReads(args);
  const options = own(readers, name);
  return options !== undefined && accepts(options, args);
}

function gitOnlyReads(args: readonly string[]): boolean {
  const [name = "", ...rest] = args[0] === "--no-pager" ? args.slice(1) : args;
  const options = own(gitSubcommands, name);
  return options !== undefined && accepts(options, rest);
}

/**
 * `--` ends nothing here: an option before it can take it as its value, and then what follows are options. So whatever
 * starts with a dash, anywhere, must be in the table.
 */
function accepts(options: Options, args: readonly string[]): boolean {
  if (options.any === true) return true;
  const operands: string[] = [];
  for (const arg of args) {
    if (arg === "-" || !arg.startsWith("-")) operands.push(arg);
    else if (arg !== "--" && !acceptsOption(options, arg)) return false;
  }
  return options.operands?.(operands) ?? true;
}

/** Long options must be spelled out, because an abbreviation can stand for one that is not in the table. */
function acceptsOption(options: Options, arg: string): boolean {
  const name = arg.split("=", 1)[0] ?? arg;
  if (options.words?.has(name) === true) return true;
  if (arg.startsWith("--")) return false;
  if (options.numbers === true && /^-\d+$/.test(arg)) return true;
  for (const letter of arg.slice(1)) {
    if (options.valued?.includes(letter) === true) return true;
    if (options.flags?.includes(letter) !== true) return false;
  }
  return true;
}

function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
