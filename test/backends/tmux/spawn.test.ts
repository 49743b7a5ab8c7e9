import { spawn } from "node:child_process";
import { expect, it, onTestFinished } from "vitest";
import { runIdOf } from "../../../backends/environment.js";
import { removeLaunchScript } from "../../../backends/launch-script.js";
import { findTree } from "../../../backends/process-tree.js";
import { readReady } from "../../../backends/records.js";
import type { Panes } from "../../../backends/tmux/panes.js";
import { createSpawn } from "../../../backends/tmux/spawn.js";
import { TroupeError } from "../../../src/util/errors.js";
import { waitUntil } from "../../../src/util/wait.js";
import { teammateConfig } from "../../helpers/teammate.js";
import { temporaryDirectory } from "../../helpers/temp.js";

it("ends a program whose pane was opened by a call of which no answer came", async () => {
  const config = teammateConfig(temporaryDirectory(), "a", ["sleep", "300"]);
  const panes: Panes = {
    async open({ argv: [program = "", ...args] }) {
      const child = spawn(program, args, { detached: true, stdio: "ignore" });
      onTestFinished(() => void child.kill("SIGKILL"));
      await waitUntil("the program", () => readReady(config.runDir), { timeoutMs: 20_000 });
      throw new TroupeError("tmux-timeout", "no answer");
    },
    prepare: async () => undefined,
    close: async () => undefined,
    doubt: () => undefined,
    tidy: async () => undefined,
    list: async () => [],
  };
  const client = {
    socket: "none",
    run: async () => ({ ok: true, stdout: "" }) as const,
    argv: () => ["true"],
  };
  const start = createSpawn({ client, panes, owner: "o", settleMs: 0, removeScript: removeLaunchScript });
  expect(await start(config)).toMatchObject({ ok: false, code: "backend-failed" });
  expect(findTree({ runId: runIdOf(config.runDir) })).toEqual([]);
});
