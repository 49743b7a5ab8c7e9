import { defineCommand } from "../command.js";
import { endMembers } from "../end-members.js";
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
  },
  examples: [
    ["troupe down", "the team of this directory"],
    ["troupe down --team review --timeout 0s", "at once"],
  ],
  async run({ options }, io) {
    const timeoutMs = options.timeout;
    const reports = await endMembers(io, options.team, {
      ask: async (host) => {
        const { members } = await host.request(
          "down",
          {
            ...(options.reason === undefined ? {} : { reason: options.reason }),
            ...(timeoutMs === undefined ? {} : { timeoutMs }),
          },
          { timeoutMs: 2 * (timeoutMs ?? 30_000) + 60_000, signal: io.signal },
        );
        return members;
      },
    });
    return printEndReports(io, options.json, reports);
  },
});
