import { defineCommand } from "../command.js";
import { startOptions } from "../start-options.js";

export const run = defineCommand({
  name: "run",
  describe: "Run a team, or one agent on a task, until the work is done; print the result",
  positionals: ["WHAT"],
  required: 1,
  options: {
    ...startOptions,
    timeout: { type: "duration", arg: "TIME", describe: "give up after this time, with exit code 6" },
  },
  examples: [
    ["troupe run review.yaml", "the team in review.yaml, in this process"],
    ['troupe run "explain src/auth"', "one agent that leads and may write to you"],
    ["troupe run team.yaml --backend auto", "in panes where there is a terminal"],
    ["troupe run team.yaml --json", "events as NDJSON on stdout"],
  ],
  async run({ options, positionals: [what = ""] }, io) {
    const { planFrom } = await import("../plan-from.js");
    const { request } = await planFrom("run", what, options, io);
    const { runToEnd } = await import("../run-to-end.js");
    return runToEnd(request, io, options);
  },
});
