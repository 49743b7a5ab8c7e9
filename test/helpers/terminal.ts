import fs from "node:fs";
import path from "node:path";
import { onTestFinished } from "vitest";
import { type Pane, paneOf, type TmuxRun } from "./panes.js";
import type { Place } from "./place.js";
import { startTmux } from "./tmux.js";

/** A person's terminal, with a shell in the project. */
export interface Terminal {
  readonly pane: Pane;
  /** The server around it. */
  readonly run: TmuxRun;
  readonly socket: string;
  /** Types a command line. */
  type(line: string): void;
  /** Waits for the end of the last command that was typed and gives its exit code. */
  exitCode(timeoutMs?: number): Promise<number>;
}

/** Opens a terminal for a person. `inTmux`: the shell knows that it runs in tmux; else it is a plain terminal to it. */
export function openTerminal(
  place: Place,
  { inTmux, config = "" }: { inTmux: boolean; config?: string },
): Terminal {
  const tmux = startTmux(config);
  onTestFinished(({ task }) => {
    const left = task.result?.state === "fail" ? [] : teammatesIn(tmux);
    tmux.stop();
    if (left.length > 0) throw new Error(`the test has left panes of teammates behind:\n${left.join("\n")}`);
  });
  const script = path.join(tmux.dir, "shell");
  const words = Object.entries({ ...place.env, TERM: "screen-256color", PS1: "$ " }).map(
    ([name, value]) => `'${name}=${value}'`,
  );
  const around = inTmux ? ` TMUX="$TMUX" TMUX_PANE="$TMUX_PANE"` : "";
  fs.writeFileSync(script, `#!/bin/sh\nexec env -i ${words.join(" ")}${around} /bin/sh\n`, { mode: 0o755 });
  const id = tmux.run("new-window", "-P", "-F", "#{pane_id}", "-c", place.project, script);
  const pane = paneOf(tmux.run, id);
  let commands = 0;
  return {
    pane,
    run: tmux.run,
    socket: tmux.socket,
    type(line) {
      commands++;
      pane.type(`${line}; echo "[exit ${commands}: $?]"`);
    },
    async exitCode(timeoutMs = 60_000) {
      const [, code] = await pane.shows(new RegExp(`\\[exit ${commands}: (\\d+)\\]`), timeoutMs);
      return Number(code);
    },
  };
}

/** The panes of teammates on a server; none if the test has ended it. */
function teammatesIn({ run }: { run: TmuxRun }): string[] {
  try {
    return run("list-panes", "-a", "-F", "#{pane_id} #{@troupe_agent}")
      .split("\n")
      .filter((row) => row.includes("@"));
  } catch {
    return [];
  }
}
