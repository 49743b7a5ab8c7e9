import { usageError } from "./arguments.js";
import type { Command } from "./command.js";
import type { OptionSpec } from "./option-table.js";

/** `--keep PID` of the commands that end members. */
export const keepOption = {
  type: "string",
  arg: "PID",
  multiple: true,
  describe: "leave this process alone, and what it started; may be repeated",
} as const satisfies OptionSpec;

/** The pids of `--keep`. Throws a usage error for what is none. */
export function keptPids(command: Command, given: readonly string[]): readonly number[] {
  return given.map((text) => {
    const pid = Number(text);
    if (/^\d+$/.test(text) && pid > 1 && Number.isSafeInteger(pid)) return pid;
    throw usageError(
      command,
      `${command.name}: --keep ${JSON.stringify(text)} is not the number of a process`,
    );
  });
}
