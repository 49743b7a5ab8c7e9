import path from "node:path";
import { createInProcessExecutor } from "../../backends/in-process.js";
import { createTmuxExecutor } from "../../backends/tmux/executor.js";
import type { DeliverMessage, TeammateMessage } from "../../backends/types.js";
import { createExecutorDouble } from "../helpers/executor-double.js";
import { startTmux, tmuxProgram } from "../helpers/tmux.js";
import { type ExecutorHarness, runExecutorContract } from "./contract.js";

const graceMs = 400;

function outbox() {
  const delivered: { agentId: string; message: TeammateMessage }[] = [];
  const deliver: DeliverMessage = async (agentId, message) => {
    delivered.push({ agentId, message });
  };
  return { delivered, deliver };
}

const programs: ExecutorHarness["programs"] = {
  stays: ["sleep", "300"],
  says: (text) => ["/bin/sh", "-c", 'printf "%s\\n" "$1"; exec sleep 300', "say", text],
  exits: (code) => ["/bin/sh", "-c", `exit ${code}`],
};

runExecutorContract(
  "in memory",
  () => {
    const { delivered, deliver } = outbox();
    return {
      executor: createExecutorDouble({ deliver }),
      delivered,
      programs: {
        stays: ["stay"],
        says: (text) => ["say", text.split("\n").at(-1) ?? ""],
        exits: (code) => ["exit", String(code)],
      },
      places: () => [],
      dispose: async () => undefined,
    };
  },
  { hasProcesses: false },
);

for (const pty of [false, true])
  runExecutorContract(`in-process, ${pty ? "pseudo-terminals" : "pipes"}`, () => {
    const { delivered, deliver } = outbox();
    const executor = createInProcessExecutor({ run: async () => undefined, deliver, graceMs, pty });
    return {
      executor,
      delivered,
      programs,
      places: () => [],
      dispose: () => endAll(executor),
    };
  });

runExecutorContract("tmux, inside", ({ dir }) => {
  const tmux = startTmux("set -g base-index 1\nsetw -g pane-base-index 1\nset -g default-shell /bin/false\n");
  const { delivered, deliver } = outbox();
  const make = () =>
    createTmuxExecutor({
      place: { kind: "inside", socket: tmux.socket, pane: "%0" },
      team: "team",
      teamId: dir,
      env: process.env,
      deliver,
      lockDir: path.join(dir, "lock"),
      tmux: tmuxProgram,
      graceMs,
    });
  const executor = make();
  return {
    executor,
    delivered,
    successor: make,
    programs,
    places: () =>
      tmux.run("list-panes", "-a", "-F", "#{pane_id} #{pane_active} #{window_active}").split("\n"),
    async dispose() {
      await endAll(executor);
      tmux.stop();
    },
  };
});

runExecutorContract("tmux, a server of its own", ({ dir }) => {
  const { delivered, deliver } = outbox();
  const make = () =>
    createTmuxExecutor({
      place: { kind: "own", runDir: path.join(dir, "t"), userConfig: false },
      team: "team",
      teamId: dir,
      env: process.env,
      deliver,
      lockDir: path.join(dir, "lock"),
      tmux: tmuxProgram,
      graceMs,
    });
  const executor = make();
  return {
    executor,
    delivered,
    successor: make,
    programs,
    places: () => [],
    async dispose() {
      await endAll(executor);
      await executor.close();
    },
  };
});

async function endAll(executor: ExecutorHarness["executor"]): Promise<void> {
  const ids = ["scout@team", ...Array.from({ length: 8 }, (_, index) => `mate${index}@team`)];
  await Promise.all(ids.map((agentId) => executor.kill(agentId)));
}
