import { defineCommand } from "../command.js";
import { teamOf } from "../team-of.js";

export const attach = defineCommand({
  name: "attach",
  describe: "Go to a teammate's pane, or look at it live; without NAME the lead's view",
  positionals: ["NAME"],
  required: 0,
  options: {
    view: { type: "boolean", describe: "a live view on this terminal, also where there are panes" },
  },
  examples: [
    ["troupe attach", "the team's panes, or the lead's view"],
    ["troupe attach reviewer", "its pane, or a live view with a line to write to it"],
  ],
  async run({ options, positionals: [name] }, io) {
    const [{ requireHost }, session] = await Promise.all([
      import("../../team/host/client.js"),
      import("../lead-session.js"),
    ]);
    const team = teamOf(io, options.team);
    const host = await requireHost(team.paths, io.signal);
    try {
      if (name === undefined && !options.view) return await session.lookAt(team, host, io, options.json);
      if (name === undefined || (name === "lead" && team.record.lead === "user"))
        return await session.viewHere(team, host, io, options.json);
      const { attachMember } = await import("../attach-member.js");
      return await attachMember(team, host, name, io, { view: options.view, json: options.json });
    } finally {
      host.close();
    }
  },
});
