import { type PlannedStart, planStart } from "../team/start-request.js";
import type { Io } from "./io.js";
import type { OptionValues } from "./option-table.js";
import { selfCommand } from "./self.js";
import type { startOptions } from "./start-options.js";

/** Settles what a command line asks to start. Advice on the backend is told. */
export async function planFrom(
  command: "up" | "run",
  what: string,
  options: OptionValues<typeof startOptions>,
  io: Io,
): Promise<PlannedStart> {
  const plan = await planStart({
    command,
    what,
    backend: options.backend,
    model: options.model,
    modelScript: options["model-script"],
    cwd: io.cwd,
    env: io.env,
    stdinIsTerminal: io.stdin.isTTY === true,
    stderrIsTerminal: io.stderr.isTTY === true,
    troupe: selfCommand(),
  });
  if (plan.hint !== undefined) await io.note(`troupe: ${plan.hint}`);
  return plan;
}
