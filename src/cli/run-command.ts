import { checkArguments, type RawArguments } from "./arguments.js";
import type { Command } from "./command.js";
import type { Io } from "./io.js";

/** Checks a parsed line and runs its command; resolves to the exit code, throws what the command throws. */
export async function runCommand(command: Command, raw: RawArguments, io: Io): Promise<number> {
  return (await command.run(checkArguments(command, raw), io)) ?? 0;
}
