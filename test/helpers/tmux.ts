import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

/** The tmux under test: `TROUPE_TMUX`, else the one in PATH. */
export const tmuxProgram = process.env["TROUPE_TMUX"] ?? "tmux";

/** A tmux server of a test's own, on a socket in a directory of its own. */
export interface TestTmux {
  readonly socket: string;
  readonly dir: string;
  /** Runs one tmux command line on it and returns what it prints, without the last newline. */
  run(...args: string[]): string;
  /** `TMUX` and `TMUX_PANE` as a program in `pane` sees them. */
  env(pane: string): { TMUX: string; TMUX_PANE: string };
  /** Ends the server and removes its directory. */
  stop(): void;
}

/** Starts a server with one session (200x50) whose pane runs `cat`. `config` is a tmux.conf. */
export function startTmux(config = ""): TestTmux {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "troupe-tmux-"));
  const socket = path.join(dir, "s");
  const conf = path.join(dir, "conf");
  fs.writeFileSync(conf, config);
  const run = (...args: string[]): string =>
    execFileSync(tmuxProgram, ["-u", "-S", socket, "-f", conf, ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trimEnd();
  run("new-session", "-d", "-x", "200", "-y", "50", "-s", "work", "/bin/sh", "-c", "exec cat");
  return {
    socket,
    dir,
    run,
    env: (pane) => ({ TMUX: `${socket},${run("display-message", "-p", "#{pid}")},0`, TMUX_PANE: pane }),
    stop() {
      try {
        run("kill-server");
      } catch {
        // The test has ended it already.
      }
      fs.rmSync(dir, { recursive: true, force: true });
    },
  };
}
