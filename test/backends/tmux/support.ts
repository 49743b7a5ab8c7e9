import path from "node:path";
import { onTestFinished } from "vitest";
import {
  createTmuxExecutor,
  type TmuxExecutor,
  type TmuxExecutorOptions,
} from "../../../backends/tmux/executor.js";
import type { TeammateRef } from "../../../backends/types.js";
import { teammateConfig } from "../../helpers/teammate.js";
import { startTmux, type TestTmux, tmuxProgram } from "../../helpers/tmux.js";

/** An executor whose teammates `a` to `d` end with the test. */
export function executorOf(
  dir: string,
  place: TmuxExecutorOptions["place"],
  more: Partial<TmuxExecutorOptions> = {},
): TmuxExecutor {
  const executor = createTmuxExecutor({
    place,
    team: "team",
    teamId: dir,
    env: process.env,
    deliver: async () => undefined,
    lockDir: path.join(dir, "lock"),
    tmux: tmuxProgram,
    graceMs: 400,
    ...more,
  });
  onTestFinished(async () => {
    await Promise.all(["a", "b", "c", "d"].map((name) => executor.kill(`${name}@team`)));
    await executor.close();
  });
  return executor;
}

/** Starts a program that stays, and gives its reference; throws where it does not start. */
export async function start(
  executor: TmuxExecutor,
  dir: string,
  name: string,
  more: Parameters<typeof teammateConfig>[3] = {},
): Promise<TeammateRef> {
  const result = await executor.spawn(teammateConfig(dir, name, ["sleep", "300"], more));
  if (!result.ok) throw new Error(`${result.code}: ${result.reason}\n${result.screen}`);
  return result.ref;
}

/** The same for another program. */
export function startProgram(executor: TmuxExecutor, dir: string, name: string, ...argv: readonly string[]) {
  return start(executor, dir, name, { launch: { kind: "argv", argv } });
}

/** A user's server that ends with the test. */
export function usersServer(config = ""): TestTmux {
  const tmux = startTmux(config);
  onTestFinished(tmux.stop);
  return tmux;
}

/** A line in `format` for every pane of a server. */
export const panesOf = (tmux: TestTmux, format: string): string[] =>
  tmux.run("list-panes", "-a", "-F", format).split("\n");
