import path from "node:path";
import { onTestFinished } from "vitest";
import {
  createIterm2Executor,
  type Iterm2Executor,
  type Iterm2Options,
} from "../../../backends/iterm2/executor.js";
import type { TeammateRef } from "../../../backends/types.js";
import { teammateConfig } from "../../helpers/teammate.js";
import type { Iterm2Emulator } from "../../iterm2-emulator/emulator.js";

/** Options for an executor that drives the emulator as if it were called from the first pane. */
export function optionsFor(
  { env, osascript, cookies }: Iterm2Emulator,
  dir: string,
  more: Partial<Iterm2Options> = {},
): Iterm2Options {
  return {
    // Asked for only once it is used up: that takes a program each time.
    env: { ...env, ITERM2_COOKIE: cookies.issue() },
    osascript,
    platform: "darwin",
    teamId: dir,
    lockDir: path.join(dir, "lock"),
    deliver: async () => undefined,
    graceMs: 400,
    ...more,
  };
}

/** The same as an executor, whose teammates `a` to `j` end with the test. */
export function executorOf(
  emulator: Iterm2Emulator,
  dir: string,
  more: Partial<Iterm2Options> = {},
): Iterm2Executor {
  const executor = createIterm2Executor(optionsFor(emulator, dir, more));
  onTestFinished(async () => {
    await Promise.all([..."abcdefghij"].map((name) => executor.kill(`${name}@team`)));
    await executor.close();
  });
  return executor;
}

/** Starts a program, one that stays if none is named, and gives its reference; throws where it does not start. */
export async function start(
  executor: Iterm2Executor,
  dir: string,
  name: string,
  argv: readonly string[] = ["sleep", "300"],
  more: Parameters<typeof teammateConfig>[3] = {},
): Promise<TeammateRef> {
  const result = await executor.spawn(teammateConfig(dir, name, argv, more));
  if (!result.ok) throw new Error(`${result.code}: ${result.reason}\n${result.screen}`);
  return result.ref;
}
