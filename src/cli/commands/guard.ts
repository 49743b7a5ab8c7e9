import path from "node:path";
import { teamPaths } from "../../team/paths.js";
import { readTeamRecord } from "../../team/records.js";
import { defineCommand } from "../command.js";

export const guard = defineCommand({
  name: "guard",
  describe: "End what a host leaves that dies without warning; started by a team's host",
  positionals: ["TEAM_DIR", "ORPHAN_TIMEOUT_MS"],
  required: 2,
  options: {},
  examples: [],
  hidden: true,
  async run({ positionals: [root = "", timeout = ""] }, io) {
    const { guardTeam } = await import("../../team/host/guard.js");
    const paths = teamPaths(path.dirname(path.dirname(root)), path.basename(root));
    await guardTeam(
      { paths, record: readTeamRecord(paths) },
      { orphanTimeoutMs: Number(timeout), env: io.env, signal: io.signal },
    );
    return 0;
  },
});
