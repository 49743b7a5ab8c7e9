// Starts one teammate on a user's server from a process of its own, as a host does, and prints its reference.
import { createTmuxExecutor } from "../../../../backends/tmux/executor.js";
import { teammateConfig } from "../../../helpers/teammate.js";

const [dir = "", socket = "", lockDir = "", name = "", tmux = ""] = process.argv.slice(2);
const executor = createTmuxExecutor({
  place: { kind: "inside", socket, pane: "%0" },
  team: "team",
  teamId: dir,
  env: process.env,
  deliver: async () => undefined,
  lockDir,
  tmux,
});
const result = await executor.spawn(teammateConfig(dir, name, ["sleep", "300"], { deadlineMs: 60_000 }));
console.log(JSON.stringify(result));
