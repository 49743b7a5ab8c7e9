import { commands } from "./commands/index.js";
import type { Io } from "./io.js";
import { parseFast } from "./parse-fast.js";
import { runCommand } from "./run-command.js";

/**
 * Runs a command line that Node's own parser can read, and leaves every other to the full one, whose start takes longer than
 * that of all else. Resolves to the exit code, and throws what the command throws.
 */
export async function runAny(argv: readonly string[], io: Io): Promise<number> {
  const [name, ...rest] = argv;
  const command = commands.find((candidate) => candidate.name === name);
  const raw = command && parseFast(command, rest);
  if (command !== undefined && raw !== undefined) return runCommand(command, raw, io);
  const { main } = await import("./main.js");
  return main(argv, io);
}
