import { defineCommand } from "../command.js";
import { endMembers } from "../end-members.js";
import { keepOption, keptPids } from "../keep-option.js";
import { printEndReports } from "../print-end-reports.js";

export const down = defineCommand({
  name: "down",
  describe: "End a team: all teammates, then its host, verified",
  positionals: [],
  required: 0,
  options: {
    reason: { type: "string", arg: "TEXT", describe: "what the teammates are told" },
    timeout: {
      type: "duration",
      arg: "TIME",
      describe: "how long they may take to end by themselves; default 30s",
    },
    keep: keepOption,
  },
  examples: [
    ["troupe down", "the team of this directory"],
    ["troupe down --team review --timeout 0s", "at once"],
    ["troupe down --keep 4711 --keep 4712", "but leave two servers that teammates started"],
  ],
  async run({ options }, io) {
    const timeoutMs = options.timeout;
    const keep = keptPids(this, options.keep);
    const ended = await endMembers(io, options.team, {
      ask: (host) =>
        host.request(
          "down",
          {
            keep,
            ...(options.reason === undefined ? {} : { reason: options.reason }),
            ...(timeoutMs === undefined ? {} : { timeoutMs }),
          },
          { timeoutMs: 2 * (timeoutMs ?? 30_000) + 60_000, signal: io.signal },
        ),
      keep,
    });
    return printEndReports(io, options.json, ended);
  },
});
