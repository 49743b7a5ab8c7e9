import type { ChildProcess } from "node:child_process";
import { TroupeError } from "./errors.js";
import { endGroup, groupRuns, guardGroup } from "./process-group.js";
import { oneLine } from "./text.js";
import { delay } from "./wait.js";

export interface ExecOptions {
  readonly cwd: string;
  /** The command's whole environment. Default: this process's. */
  readonly env?: Readonly<Record<string, string>>;
  /** Deadline in milliseconds; the command's process group is ended at it. */
  readonly timeoutMs: number;
  /** From TERM to KILL in milliseconds; default 2000. */
  readonly killAfterMs?: number;
  /** Text for stdin; without it stdin is empty. */
  readonly input?: string;
  /** Exit codes that are an answer and no failure; default only 0. */
  readonly okCodes?: readonly number[] | "any";
  /** Bytes kept of stdout and of stderr, each; default 8 MiB. What comes after is dropped and `truncated` set. */
  readonly maxBytes?: number;
  /** Ends the command as soon as its stdout exceeds `maxBytes`: for listings, where the rest is not wanted. */
  readonly endAtCap?: boolean;
  /** Gets stdout and stderr, in the order of arrival, in place of the result; called synchronously. If it throws,
   *  the command is ended and the call throws the same. */
  readonly onOutput?: (chunk: Buffer) => void;
  /** Leaves processes alone that the command put into the background with their output redirected. */
  readonly keepBackground?: boolean;
}

export interface ExecResult {
  /** Undefined if a signal ended the command. */
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether output was dropped, or the command ended at its cap. */
  readonly truncated: boolean;
  /** What became of processes that the command left in its group: none, ended by us, or still running. */
  readonly leftBehind: "nothing" | "ended" | "running";
  /** The command's process group. */
  readonly pgid: number;
}

/** Why a command failed. Only one that was not started may be repeated blindly. */
export interface ExecFailure {
  readonly argv: readonly string[];
  readonly reason: "not-started" | "exit" | "timeout";
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  /** The last 2000 characters. */
  readonly stderr: string;
}

/** A command that failed; `code` is `exec-not-started`, `exec-failed` or `exec-timeout`. */
export class ExecError extends TroupeError {
  constructor(
    readonly failure: ExecFailure,
    message: string,
    options: { kind?: "failed" | "not-reached" | "unavailable"; remedy?: string; cause?: unknown } = {},
  ) {
    super(
      failure.reason === "exit" ? "exec-failed" : `exec-${failure.reason}`,
      `${failure.argv[0]}: ${message}`,
      options,
    );
  }
}

/** After the command itself has ended: how long the output may pause, and how many pauses are waited out. */
const drain = { pauseMs: 300, pauses: 10 } as const;

/**
 * Runs one external command, without a shell, in a session and process group of its own, and waits for its end. The
 * group is ended (TERM, then KILL) at the deadline, on abort and when this process exits, and is gone when the call
 * returns. Throws {@link ExecError} if the command could not be started, exceeded its deadline or ended with a code
 * that is not in `okCodes` or by a signal (with `"any"` both are results); the signal's reason on abort.
 */
export async function exec(
  argv: readonly string[],
  options: ExecOptions,
  signal?: AbortSignal,
): Promise<ExecResult> {
  const [file, ...args] = argv;
  if (file === undefined) throw new TypeError("exec: empty argv");
  const { execa } = await import("execa");
  signal?.throwIfAborted();
  const child = execa(file, args, {
    cwd: options.cwd,
    ...(options.env === undefined ? {} : { env: options.env, extendEnv: false }),
    ...(options.input === undefined ? { stdin: "ignore" } : { input: options.input }),
    stdout: "pipe",
    stderr: "pipe",
    detached: true,
    buffer: false,
    encoding: "buffer",
    reject: false,
  });
  if (child.pid === undefined) throw notStarted(argv, (await child).cause);

  const stdout = createSink(options.maxBytes);
  const stderr = createSink(options.maxBytes);
  const { stopped, leftBehind } = await supervise(
    child,
    child.pid,
    child,
    { stdout, stderr },
    options,
    signal,
  );
  const exitCode = child.exitCode ?? undefined;
  const endedBy = child.signalCode ?? undefined;
  const failure = { argv, exitCode, signal: endedBy, stderr: stderr.text().slice(-2000) };
  if (stopped === "timeout")
    throw new ExecError({ ...failure, reason: "timeout" }, `not finished within ${options.timeoutMs} ms`, {
      kind: "not-reached",
    });
  const okCodes = options.okCodes ?? [0];
  const ok = stopped === "cap" || okCodes === "any" || (exitCode !== undefined && okCodes.includes(exitCode));
  if (!ok) throw new ExecError({ ...failure, reason: "exit" }, describe(failure));
  return {
    exitCode,
    signal: endedBy,
    stdout: stdout.text(),
    stderr: stderr.text(),
    truncated: stdout.truncated() || stderr.truncated(),
    leftBehind,
    pgid: child.pid,
  };
}

interface Outcome {
  /** Why we ended it, if we did. */
  readonly stopped: "timeout" | "cap" | undefined;
  readonly leftBehind: ExecResult["leftBehind"];
}

/** Takes the output and waits for the end, or brings it about. `closed` settles when the output has been read, too. */
async function supervise(
  child: ChildProcess,
  pgid: number,
  closed: PromiseLike<unknown>,
  sinks: { readonly stdout: Sink; readonly stderr: Sink },
  options: ExecOptions,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const killAfterMs = options.killAfterMs ?? 2000;
  let stopped: Outcome["stopped"];
  let thrown: { readonly error: unknown } | undefined;
  let ending: Promise<boolean> | undefined;
  let giveUp = () => {};
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    giveUp = resolve;
  });
  const end = () => {
    ending ??= endGroup(pgid, killAfterMs);
    void ending.then(giveUp);
  };
  let received = 0;
  const take = (sink: Sink) => (chunk: Buffer) => {
    received += chunk.length;
    try {
      (options.onOutput ?? sink.write)(chunk);
    } catch (error) {
      thrown ??= { error };
      end();
    }
    if (options.endAtCap !== true || !sinks.stdout.truncated() || ending !== undefined) return;
    stopped = "cap";
    end();
  };
  child.stdout?.on("data", take(sinks.stdout));
  child.stderr?.on("data", take(sinks.stderr));
  const onAbort = () => {
    thrown ??= { error: signal?.reason };
    end();
  };
  signal?.addEventListener("abort", onAbort, { once: true });
  const timer = setTimeout(() => {
    if (ending === undefined) stopped = "timeout";
    end();
  }, options.timeoutMs);
  const release = guardGroup(pgid);
  let leftBehind: Outcome["leftBehind"] = "nothing";
  try {
    await exited;
    clearTimeout(timer);
    const drained = await drainOutput(closed, () => received);
    if (ending === undefined && groupRuns(pgid)) {
      leftBehind = drained && options.keepBackground === true ? "running" : "ended";
      if (leftBehind === "ended") end();
    }
    await ending;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
    release();
    // A process outside of the group may hold the pipes open; nobody waits for it.
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
  if (thrown !== undefined) throw thrown.error;
  return { stopped, leftBehind };
}

/** Reads on until the output is closed; false if it stays open without bringing anything, or does not end. */
async function drainOutput(closed: PromiseLike<unknown>, received: () => number): Promise<boolean> {
  const done = closed.then(() => true);
  for (let pause = 0; pause < drain.pauses; pause += 1) {
    const before = received();
    if (await Promise.race([done, delay(drain.pauseMs).then(() => false)])) return true;
    // In a loop that was blocked the timer comes before what waits in the pipe.
    const look = new Promise<boolean>((resolve) => setImmediate(() => setImmediate(resolve, false)));
    if (await Promise.race([done, look])) return true;
    if (received() === before) return false;
  }
  return false;
}

function notStarted(argv: readonly string[], cause: unknown): ExecError {
  const failure = {
    argv,
    reason: "not-started",
    exitCode: undefined,
    signal: undefined,
    stderr: "",
  } as const;
  const why = cause instanceof Error ? oneLine(cause.message) : "unknown reason";
  return new ExecError(failure, `could not be started: ${why}`, {
    kind: "unavailable",
    remedy: `install ${argv[0]} or put its directory into PATH; the working directory must exist, too`,
    cause,
  });
}

function describe(failure: Omit<ExecFailure, "reason">): string {
  const how =
    failure.exitCode === undefined
      ? `ended by ${failure.signal ?? "a signal"}`
      : `exit code ${failure.exitCode}`;
  const stderr = oneLine(failure.stderr, 500);
  return stderr === "" ? how : `${how}: ${stderr}`;
}

interface Sink {
  write(chunk: Buffer): void;
  text(): string;
  truncated(): boolean;
}

/** Collects one stream up to `cap` bytes. */
function createSink(cap = 8 * 1024 * 1024): Sink {
  const chunks: Buffer[] = [];
  let held = 0;
  let dropped = false;
  return {
    write(chunk: Buffer): void {
      const kept = chunk.subarray(0, cap - held);
      if (kept.length > 0) chunks.push(kept);
      held += kept.length;
      dropped ||= kept.length < chunk.length;
    },
    text: () => Buffer.concat(chunks).toString("utf8"),
    truncated: () => dropped,
  };
}
