import { spawnSync } from "node:child_process";
import { compare, interleave, timed } from "./bench.mjs";
import { loadMailbox } from "./bench-mail.mjs";
import { createScratchTeam } from "./scratch-team.mjs";

/** @type {import("./bench.mjs").Bench} */
export const sendCost = {
  name: "send",
  title: "`troupe send` as a whole process / node -e 0",
  runs: 25,
  async measure({ command, dir, runs }) {
    const { env } = await createScratchTeam(dir, await loadMailbox(command));
    const samples = await interleave(
      {
        troupe: (run) => timed(() => runNode([command, "send", "quiet", `message ${run}`], env)),
        node: () => timed(() => runNode(["-e", "0"], env)),
      },
      runs,
    );
    return { samples, figures: [compare("median", samples.troupe, samples.node, 0.5, { atMost: 1.4 })] };
  },
};

/** @param {readonly string[]} args @param {NodeJS.ProcessEnv} env */
function runNode(args, env) {
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`${args.join(" ")}: exit ${status}: ${stderr}`);
}
