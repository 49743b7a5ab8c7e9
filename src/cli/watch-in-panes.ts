import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Io } from "./io.js";

/** A person's terminal attached to the team's own terminal session while a command goes on. */
export interface PaneWatch {
  /** Whether the terminal shows the panes now, so that nothing else may write to it. */
  readonly watching: boolean;
  /** Attaches by the given command, where there is one and a terminal to show it on. Does not wait for its end. */
  open(command: readonly string[] | undefined): Promise<void>;
  /** Waits until the terminal is ours again: the session has ended, or the person detached. */
  close(): Promise<void>;
}

export function watchInPanes(io: Io): PaneWatch {
  let child: ChildProcess | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  return {
    get watching() {
      return child !== undefined;
    },
    async open(command) {
      const [program, ...args] = command ?? [];
      if (program === undefined || io.stdin.isTTY !== true || io.stdout.isTTY !== true) return;
      const attached = spawn(program, args, { stdio: "inherit", env: io.env });
      child = attached;
      ended = once(attached, "close").finally(() => {
        child = undefined;
      });
      await once(attached, "spawn");
    },
    async close() {
      await ended;
    },
  };
}
