import { failCurrent } from "../../util/context.js";
import { defineCommand } from "../command.js";

export const host = defineCommand({
  name: "host",
  describe: "Keep a team; started by `troupe up`",
  positionals: [],
  required: 0,
  options: {},
  examples: [],
  hidden: true,
  async run(_args, io) {
    const { serveHost } = await import("../../team/host/serve-host.js");
    io.claimFailures(failCurrent);
    await serveHost({ input: io.stdin, output: io.stdout, env: io.env, signal: io.signal });
    return 0;
  },
});
