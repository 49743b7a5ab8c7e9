import { type PlannedStart, planStart } from "../team/start-request.js";
import type { Io } from "./io.js";
import type { OptionTable, OptionValues } from "./option-table.js";
import { selfCommand } from "./self.js";

/** Options of the commands that start a team. */
export const startOptions = {
  backend: {
    type: "string",
    arg: "WHERE",
    choices: ["auto", "tmux", "iterm2", "in-process"],
    describe: "where teammates run; wins or fails",
  },
  model: {
    type: "string",
    arg: "MODEL",
    describe:
      "model of agents that name none: haiku, sonnet, opus, an id; offline: the scripted one, for all",
  },
  "model-script": { type: "string", arg: "PATH", describe: "script of the offline model" },
} as const satisfies OptionTable;

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
