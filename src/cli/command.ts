import type { Io } from "./io.js";
import type { OptionTable, OptionValues, sharedOptions } from "./option-table.js";

/**
 * One command. Its options are declared once, here, and both parsers are made from them. `run` is thin: it reads its
 * arguments, calls the work (imported lazily where it is heavy) and prints. It resolves to the exit code, undefined for 0.
 */
export interface Command<T extends OptionTable = OptionTable> {
  readonly name: string;
  /** One line for the list of commands. */
  readonly describe: string;
  /** Positional arguments by name, in order; at least `required` of them have to be given. */
  readonly positionals: readonly string[];
  readonly required: number;
  /** What follows `--` is kept apart, for commands that start another program; otherwise it counts as positional. */
  readonly takesRest?: true;
  readonly options: T;
  /** Command lines, each with what it does. */
  readonly examples: readonly (readonly [line: string, meaning: string])[];
  /** Left out of the list: started by troupe itself. */
  readonly hidden?: true;
  run(args: Arguments<T>, io: Io): Promise<number | undefined>;
}

export interface Arguments<T extends OptionTable> {
  readonly options: OptionValues<T & typeof sharedOptions>;
  readonly positionals: readonly string[];
  /** What followed `--`; empty unless the command {@link Command.takesRest}. */
  readonly rest: readonly string[];
}

/** The command as it is, with its option table's types kept for `run`, and made fit for a table of commands. */
export function defineCommand<const T extends OptionTable>(command: Command<T>): Command {
  return command as unknown as Command;
}
