import { messageOf } from "../src/util/errors.js";
import { signalName } from "./records.js";
import type { ExitRecord } from "./types.js";

/** A program on a pseudo-terminal of its own, at the head of its own session. */
export interface PtyProcess {
  readonly pid: number;
  /** Whatever the terminal shows, escape sequences included. */
  onData(listener: (chunk: Buffer) => void): void;
  onExit(listener: (end: Omit<ExitRecord, "at">) => void): void;
  /** Types; what the program does not take yet waits. */
  write(input: string): void;
}

/** Starts programs on pseudo-terminals. */
export interface PtyLibrary {
  /** `argv[0]` is looked up in the PATH of `env`. The environment gets `TERM=xterm-256color`. */
  start(argv: readonly string[], options: { cwd: string; env: Readonly<Record<string, string>> }): PtyProcess;
}

/**
 * Loads the optional pseudo-terminal library; `missing` says why there is none on this machine (no binary for the
 * platform, or installed without optional dependencies).
 */
export async function loadPty(): Promise<PtyLibrary | { readonly missing: string }> {
  try {
    // @ts-expect-error The package's declarations stand under another name than the one it is installed by.
    const { spawn }: { spawn: SpawnTerminal } = await import("node-pty");
    return {
      start(argv, { cwd, env }) {
        const [program = "", ...args] = argv;
        const terminal = spawn(program, args, {
          name: "xterm-256color",
          cols: 120,
          rows: 40,
          cwd,
          env: { ...env },
          encoding: null,
        });
        return {
          pid: terminal.pid,
          onData: (listener) => void terminal.onData(listener),
          write: (input) => terminal.write(input),
          onExit: (listener) =>
            void terminal.onExit(({ exitCode, signal }) => {
              const name = signal ? signalName(signal) : undefined;
              listener(name === undefined ? { exitCode, signal: null } : { exitCode: null, signal: name });
            }),
        };
      },
    };
  } catch (error) {
    return { missing: `no pseudo-terminal library for this platform is installed (${messageOf(error)})` };
  }
}

/** The part of the library that is used. Without an encoding its data events carry Buffers. */
type SpawnTerminal = (
  file: string,
  args: readonly string[],
  options: {
    name: string;
    cols: number;
    rows: number;
    cwd: string;
    env: Record<string, string>;
    encoding: null;
  },
) => {
  readonly pid: number;
  write(input: string): void;
  onData(listener: (chunk: Buffer) => void): unknown;
  onExit(listener: (end: { exitCode: number; signal?: number }) => void): unknown;
};
