import { troupeHome } from "../../team/paths.js";
import { exitCodes } from "../../util/errors.js";
import { defineCommand } from "../command.js";
import { printResult } from "../output.js";

export const clean = defineCommand({
  name: "clean",
  describe: "End what dead hosts left, and nothing else: processes, panes, servers, sockets, files",
  positionals: [],
  required: 0,
  options: {
    "dry-run": { type: "boolean", describe: "only show what would be ended" },
  },
  examples: [
    ["troupe clean", "all teams that no host runs; exit code 1 if something stays or was skipped"],
    ["troupe clean --team review --dry-run", "what is left of one team"],
  ],
  async run({ options }, io) {
    const { cleanHome } = await import("../../team/clean.js");
    const home = troupeHome(io.env);
    const report = await cleanHome({ home, env: io.env, team: options.team, dryRun: options["dry-run"] });
    const [{ renderClean }, { createStyle }] = await Promise.all([
      import("../../ui/clean-table.js"),
      import("../../ui/style.js"),
    ]);
    const rows = renderClean(report, createStyle(io.stdout, io.env));
    await printResult(io, options.json, report, rows.map((row) => `${row}\n`).join(""));
    const isDone = report.skipped.length === 0 && report.items.every(({ outcome }) => outcome !== "left");
    return isDone ? 0 : exitCodes.failed;
  },
});
