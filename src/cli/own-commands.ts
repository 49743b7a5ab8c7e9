import { guard } from "./commands/guard.js";
import { host } from "./commands/host.js";
import { teammate } from "./commands/teammate.js";
import type { Io } from "./io.js";
import { parseFast } from "./parse-fast.js";
import { runCommand } from "./run-command.js";

const commands = [host, teammate, guard];

/**
 * Runs a command that troupe starts by itself, once for each host, guard and teammate in a pane: without the parser and the
 * commands for people, which would be most of its start. Resolves to the exit code, and throws what the command throws.
 */
export async function runOwn([name, ...rest]: readonly string[], io: Io): Promise<number> {
  const command = commands.find((candidate) => candidate.name === name);
  const raw = command && parseFast(command, rest);
  if (command !== undefined && raw !== undefined) return runCommand(command, raw, io);
  const { main } = await import("./main.js");
  return main([name ?? "", ...rest], io);
}
