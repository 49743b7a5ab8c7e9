import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createInProcessExecutor } from "../../backends/in-process.js";
import { createTmuxExecutor, type TmuxExecutorOptions } from "../../backends/tmux/executor.js";
import { teammateConfig } from "../helpers/teammate.js";
import { temporaryDirectory } from "../helpers/temp.js";
import { startTmux, tmuxProgram } from "../helpers/tmux.js";
import { runSubmitContract } from "./submit-text.js";

const graceMs = 400;
const deliver = async () => undefined;

const tmuxExecutor = (dir: string, place: TmuxExecutorOptions["place"]) =>
  createTmuxExecutor({
    place,
    team: "team",
    teamId: dir,
    env: process.env,
    deliver,
    lockDir: path.join(dir, "lock"),
    tmux: tmuxProgram,
    graceMs,
  });

runSubmitContract("in-process, pseudo-terminals", () => ({
  executor: createInProcessExecutor({ run: async () => undefined, deliver, graceMs }),
  dispose: async () => undefined,
}));

runSubmitContract("tmux, inside", (dir) => {
  const tmux = startTmux();
  const executor = tmuxExecutor(dir, { kind: "inside", socket: tmux.socket, pane: "%0" });
  return { executor, dispose: async () => tmux.stop() };
});

it("a program on pipes has no terminal to type to", async () => {
  const dir = temporaryDirectory();
  const executor = createInProcessExecutor({ run: async () => undefined, deliver, graceMs });
  onTestFinished(async () => void (await executor.kill("scout@team")));
  expect(await executor.spawn(teammateConfig(dir, "scout", ["sleep", "300"]))).toMatchObject({ ok: true });
  await expect(executor.submitText?.("scout@team", "x")).rejects.toMatchObject({ code: "no-terminal" });
});
