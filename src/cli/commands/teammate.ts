import { defineCommand } from "../command.js";

export const teammate = defineCommand({
  name: "teammate",
  describe: "Run one embedded agent in this terminal; started by a team's host",
  positionals: ["SPEC"],
  required: 1,
  options: {},
  examples: [],
  hidden: true,
  async run({ positionals: [file = ""] }, io) {
    const [{ readAgentSpec }, { teammateHere }] = await Promise.all([
      import("../../team/runtime/agent-spec.js"),
      import("../teammate-here.js"),
    ]);
    await teammateHere(readAgentSpec(file), io);
    return 0;
  },
});
