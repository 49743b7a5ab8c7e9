import { spawnSync } from "node:child_process";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { compare, interleave } from "./bench.mjs";
import { createScratchTeam } from "./scratch-team.mjs";

/** @type {import("./bench.mjs").Bench} */
export const sendCost = {
  name: "send",
  title: "troupe send as a whole process / node -e 0",
  runs: 15,
  async measure({ command, dir, runs }) {
    const mailbox = await import(pathToFileURL(path.join(path.dirname(command), "mailbox.js")).href);
    const { env } = await createScratchTeam(path.join(dir, "home"), mailbox);
    const samples = await interleave(
      {
        troupe: (run) => timed([command, "send", "quiet", `message ${run}`], env),
        node: () => timed(["-e", "0"], env),
      },
      runs,
    );
    return { samples, figures: [compare("median", samples.troupe, samples.node, 0.5, 1.4)] };
  },
};

/** @param {readonly string[]} args @param {object} env */
function timed(args, env) {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
  const duration = performance.now() - start;
  if (status !== 0) throw new Error(`${args.join(" ")}: exit ${status}: ${stderr}`);
  return duration;
}
