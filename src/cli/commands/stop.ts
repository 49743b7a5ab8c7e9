import { defineCommand } from "../command.js";
import { endMembers } from "../end-members.js";
import { printEndReports } from "../print-end-reports.js";

export const stop = defineCommand({
  name: "stop",
  describe: "Ask a teammate to end; then end it, and prove it",
  positionals: ["NAME"],
  required: 1,
  options: {
    reason: { type: "string", arg: "TEXT", describe: "what the teammate is told" },
    timeout: {
      type: "duration",
      arg: "TIME",
      describe: "how long it may take to end by itself; default 30s",
    },
  },
  examples: [
    ["troupe stop reviewer", "asked, then TERM, KILL, pane closed, verified"],
    ["troupe stop reviewer --timeout 0s", "at once"],
  ],
  async run({ options, positionals: [name = ""] }, io) {
    const timeoutMs = options.timeout;
    const reports = await endMembers(io, options.team, {
      ask: async (host) => [
        await host.request(
          "stop",
          {
            name,
            ...(options.reason === undefined ? {} : { reason: options.reason }),
            ...(timeoutMs === undefined ? {} : { timeoutMs }),
          },
          { timeoutMs: (timeoutMs ?? 30_000) + 30_000, signal: io.signal },
        ),
      ],
      names: [name],
    });
    return printEndReports(io, options.json, reports);
  },
});
