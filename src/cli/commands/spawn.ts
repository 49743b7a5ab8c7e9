import { TroupeError } from "../../util/errors.js";
import { defineCommand } from "../command.js";
import { printResult } from "../output.js";
import { teamOf } from "../team-of.js";

export const spawn = defineCommand({
  name: "spawn",
  describe: "Add a teammate to a running team",
  positionals: ["NAME", "PROMPT"],
  required: 1,
  takesRest: true,
  options: {
    agent: { type: "string", arg: "TYPE", describe: "agent definition; default general-purpose" },
    model: { type: "string", arg: "MODEL", describe: "its model; default the definition's, then the team's" },
    mode: {
      type: "string",
      arg: "MODE",
      choices: ["plan", "default", "acceptEdits", "bypassPermissions"],
      describe: "what it may do without asking",
    },
    cwd: { type: "string", arg: "DIR", describe: "where it works, relative to the project's root" },
    service: { type: "boolean", describe: "runs beside the others; the team's work does not wait for it" },
  },
  examples: [
    ['troupe spawn scout --agent Explore "map src/auth"', "an agent"],
    ["troupe spawn tests -- npm test -- --watch", "another program, with its arguments as they are"],
  ],
  async run({ options, positionals: [name = "", prompt], rest }, io) {
    const isCommand = rest.length > 0;
    if (isCommand && (options.agent !== undefined || prompt !== undefined))
      throw new TroupeError("usage", "spawn: a command takes neither --agent nor a prompt", {
        kind: "usage",
      });
    const [{ requireHost }, { refuseFromTeammate }] = await Promise.all([
      import("../../team/host/client.js"),
      import("../../team/ancestors.js"),
    ]);
    const team = teamOf(io, options.team);
    refuseFromTeammate(team, "spawn");
    const host = await requireHost(team.paths, io.signal);
    try {
      const spec = {
        name,
        ...(isCommand ? { command: [...rest] } : { agent: options.agent ?? "general-purpose" }),
        ...(prompt === undefined ? {} : { prompt }),
        ...(options.model === undefined ? {} : { model: options.model }),
        ...(options.mode === undefined ? {} : { permissionMode: options.mode }),
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
        ...(options.service ? { service: true } : {}),
      };
      const spawned = await host.request("spawn", { spec }, { timeoutMs: 60_000, signal: io.signal });
      const where = spawned.pane === undefined ? `process ${spawned.pid}` : `pane ${spawned.pane}`;
      await printResult(io, options.json, spawned, `${spawned.name} runs (${where})\n`);
    } finally {
      host.close();
    }
    return 0;
  },
});
