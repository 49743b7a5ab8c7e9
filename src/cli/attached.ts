import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createProgress } from "../ui/progress.js";
import type { Io } from "./io.js";
import type { Viewer } from "./viewer.js";

/** A person's terminal that shows the team's own session; progress lines where it does not. */
export interface Attached extends Viewer {
  /** Attaches by the given command. Does not wait for its end. */
  open(command: readonly string[] | undefined): Promise<void>;
  /** Waits until the terminal is ours again: the session has ended, or the person detached. */
  closed(): Promise<void>;
}

export function openAttached(io: Io): Attached {
  const progress = createProgress({ output: io.stderr, env: io.env });
  let child: ChildProcess | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  return {
    show(event) {
      if (child === undefined) progress.show(event);
    },
    async open(command) {
      const [program, ...args] = command ?? [];
      if (program === undefined) return;
      child = spawn(program, args, { stdio: "inherit", env: withoutTmux(io.env) });
      ended = once(child, "close").finally(() => {
        child = undefined;
      });
      await once(child, "spawn");
    },
    close: () => undefined,
    closed: async () => void (await ended),
  };
}

/** tmux refuses to attach from inside of a session, also where the session around it is a stale one. */
export function withoutTmux(env: Io["env"]): Record<string, string | undefined> {
  const { TMUX: _, TMUX_PANE: __, ...rest } = env;
  return rest;
}
