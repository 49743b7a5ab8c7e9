import { TroupeError } from "../../util/errors.js";
import { defineCommand } from "../command.js";
import { startOptions } from "../start-options.js";

export const up = defineCommand({
  name: "up",
  describe: "Start a team and stay as the lead's view",
  positionals: ["TEAM.YAML"],
  required: 0,
  options: {
    ...startOptions,
    detach: { type: "boolean", short: "d", describe: "return when the team is started" },
  },
  examples: [
    ["troupe up review.yaml", "in panes where there is a terminal"],
    ["troupe up review.yaml -d", "and return; troupe attach comes back to it"],
    ["troupe up examples/survey.yaml --model offline", "a look around without a key"],
  ],
  async run({ options, positionals: [file] }, io) {
    if (file === undefined) throw noFile();
    const { planFrom } = await import("../plan-from.js");
    const { request } = await planFrom("up", file, options, io);
    const session = await import("../lead-session.js");
    if (request.backend.type === "in-process" && !options.detach)
      return session.hostHere(request, io, options.json);
    return session.hostDetached(request, io, { detach: options.detach, json: options.json });
  },
});

function noFile(): TroupeError {
  return new TroupeError("no-team-file", "up needs a team file", {
    kind: "usage",
    remedy: [
      "ready to type:",
      "troupe up examples/survey.yaml --model offline   a scripted team, without a key",
      'troupe run "what does this project do?"          one agent on a task',
      "troupe up --help                                 all options",
    ].join("\n"),
  });
}
