import path from "node:path";
import { describe, it } from "vitest";
import { type ContractCase, executorContract } from "../../backends/contract/index.js";
import { createInProcessExecutor } from "../../backends/in-process.js";
import { createTmuxExecutor, type TmuxExecutorOptions } from "../../backends/tmux/executor.js";
import type { DeliverMessage } from "../../backends/types.js";
import { createExecutorDouble } from "../helpers/executor-double.js";
import { startTmux, tmuxProgram } from "../helpers/tmux.js";

const graceMs = 400;

register(
  "in memory",
  executorContract(
    ({ deliver }) => ({
      executor: createExecutorDouble({ deliver }),
      programs: {
        stays: ["stay"],
        says: (text) => ["say", text.split("\n").at(-1) ?? ""],
        exits: (code) => ["exit", String(code)],
      },
    }),
    { hasProcesses: false },
  ),
);

for (const pty of [false, true])
  register(
    `in-process, ${pty ? "pseudo-terminals" : "pipes"}`,
    executorContract(({ deliver }) => ({
      executor: createInProcessExecutor({ run: async () => undefined, deliver, graceMs, pty }),
    })),
  );

register(
  "tmux, inside",
  executorContract(({ dir, deliver }) => {
    const tmux = startTmux(
      "set -g base-index 1\nsetw -g pane-base-index 1\nset -g default-shell /bin/false\n",
    );
    const successor = () => tmuxExecutor(dir, deliver, { kind: "inside", socket: tmux.socket, pane: "%0" });
    return {
      executor: successor(),
      successor,
      places: () =>
        tmux.run("list-panes", "-a", "-F", "#{pane_id} #{pane_active} #{window_active}").split("\n"),
      dispose: () => tmux.stop(),
    };
  }),
);

register(
  "tmux, a server of its own",
  executorContract(({ dir, deliver }) => {
    const successor = () =>
      tmuxExecutor(dir, deliver, { kind: "own", runDir: path.join(dir, "t"), userConfig: false });
    return { executor: successor(), successor };
  }),
);

function register(name: string, cases: readonly ContractCase[]): void {
  describe(`executor contract: ${name}`, () => {
    for (const { name, run } of cases) it(name, run);
  });
}

function tmuxExecutor(dir: string, deliver: DeliverMessage, place: TmuxExecutorOptions["place"]) {
  return createTmuxExecutor({
    place,
    team: "team",
    teamId: dir,
    env: process.env,
    deliver,
    lockDir: path.join(dir, "lock"),
    tmux: tmuxProgram,
    graceMs,
  });
}
