import { spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";
import { until } from "./until.js";

/** How a program ended, and all that it wrote. */
export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program that a test has started. */
export interface Running {
  readonly pid: number;
  readonly stdout: string;
  readonly stderr: string;
  kill(signal: NodeJS.Signals): void;
  /** Waits until what it wrote (on either stream) matches. */
  shows(pattern: RegExp): Promise<RegExpMatchArray>;
  /** Its end. Rejects if it takes longer than it may; it is killed then. */
  readonly finished: Promise<Finished>;
}

export interface RunOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly input?: string;
  /** Default 60 s. */
  readonly timeoutMs?: number;
}

/** Starts a program without a terminal. What still runs when the test is over is killed. */
export function startProgram(argv: readonly string[], options: RunOptions): Running {
  const [program = "", ...args] = argv;
  const child = spawn(program, args, { env: options.env, cwd: options.cwd, stdio: "pipe" });
  const written = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const)
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      written[stream] += text;
    });
  // Who does not read its input may be gone before it is written.
  child.stdin.on("error", () => undefined);
  child.stdin.end(options.input ?? "");
  const limit = setTimeout(() => child.kill("SIGKILL"), options.timeoutMs ?? 60_000);
  onTestFinished(() => void child.kill("SIGKILL"));
  const describe = (): string => `${argv.slice(1).join(" ")}\n${written.stdout}\n${written.stderr}`;
  const finished = once(child, "close").then(([code, signal]): Finished => {
    clearTimeout(limit);
    if (signal === "SIGKILL" && child.killed) throw new Error(`killed, or not over in time: ${describe()}`);
    return { code, signal, ...written };
  });
  finished.catch(() => undefined);
  return {
    pid: child.pid ?? 0,
    get stdout() {
      return written.stdout;
    },
    get stderr() {
      return written.stderr;
    },
    kill: (signal) => void process.kill(child.pid ?? 0, signal),
    shows: (pattern) => until(() => `${written.stdout}\n${written.stderr}`.match(pattern), pattern, describe),
    finished,
  };
}
