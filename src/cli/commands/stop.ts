import { defineCommand } from "../command.js";
import { endMembers } from "../end-members.js";
import { keepOption, keptPids } from "../keep-option.js";
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
    keep: keepOption,
  },
  examples: [
    ["troupe stop reviewer", "asked, then TERM, KILL, pane closed, verified"],
    ["troupe stop reviewer --timeout 0s", "at once"],
    ["troupe stop reviewer --keep 4711", "but leave the server that it started"],
  ],
  async run({ options, positionals: [name = ""] }, io) {
    const timeoutMs = options.timeout;
    const keep = keptPids(this, options.keep);
    const ended = await endMembers(io, options.team, {
      async ask(host) {
        const { notes, ...member } = await host.request(
          "stop",
          {
            name,
            keep,
            ...(options.reason === undefined ? {} : { reason: options.reason }),
            ...(timeoutMs === undefined ? {} : { timeoutMs }),
          },
          { timeoutMs: (timeoutMs ?? 30_000) + 30_000, signal: io.signal },
        );
        return { members: [member], ...(notes === undefined ? {} : { notes }) };
      },
      names: [name],
      keep,
    });
    return printEndReports(io, options.json, ended);
  },
});
