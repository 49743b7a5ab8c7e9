import path from "node:path";
import { runAs } from "../src/util/context.js";
import { messageOf, TroupeError } from "../src/util/errors.js";
import { liveness, type ProcessIdentity } from "../src/util/process-identity.js";
import { delay } from "../src/util/wait.js";
import { type Embedded, type RunEmbedded, startEmbedded } from "./embedded.js";
import { runIdOf } from "./environment.js";
import { createExitGuard } from "./exit-guard.js";
import { readOutputTail } from "./output-log.js";
import { findLaunchProblem } from "./preflight.js";
import { endTree, type ProcessTree, signalTree } from "./process-tree.js";
import { type Program, startProgram } from "./program.js";
import { loadPty } from "./pty.js";
import { clearRecords, earlyFailure } from "./records.js";
import { spawnAborted, spawnFailure, spawnLate } from "./spawn-failure.js";
import { createStarting } from "./starting.js";
import type {
  DeliverMessage,
  ExitRecord,
  KillReport,
  TeammateExecutor,
  TeammateSpawnConfig,
  TeammateSpawnResult,
} from "./types.js";

export interface InProcessOptions {
  /** Runs an embedded agent. */
  readonly run: RunEmbedded;
  readonly deliver: DeliverMessage;
  /**
   * Puts every other program on a pseudo-terminal where the library for it is installed. Default false: only those whose
   * launch asks for a `terminal`, see {@link TeammateLaunch}.
   */
  readonly pty?: boolean;
  /** Every line that another program shows; hostile text. */
  readonly onOutput?: (agentId: string, line: string) => void;
  /** Told when a teammate's process or run has ended, with what its run threw. */
  readonly onEnded?: (agentId: string, end: Omit<ExitRecord, "at">, error?: unknown) => void;
  /** Something a person should know, such as a missing pseudo-terminal. */
  readonly onNote?: (text: string) => void;
  /** How long an end with a failure still makes the spawn a failed one, in milliseconds; default 150. */
  readonly settleMs?: number;
  /** From TERM or abort to KILL, in milliseconds; default 5000. */
  readonly graceMs?: number;
}

/** One teammate that was started here; it stays known after its end, so that strays can still be ended. */
interface Life {
  readonly config: Pick<TeammateSpawnConfig, "agentId" | "runDir">;
  readonly program?: Program;
  readonly embedded?: Embedded;
}

/**
 * Runs embedded agents inside this process, each in an asynchronous context of its own, and other programs as its
 * children. Always available. Whatever of them still runs when this process exits is killed with it.
 */
export function createInProcessExecutor(options: InProcessOptions): TeammateExecutor {
  const lives = new Map<string, Life>();
  const atExit = createExitGuard();
  const starting = createStarting();
  const { settleMs = 150, graceMs = 5000 } = options;
  let pty: ReturnType<typeof loadPty> | undefined;
  let toldMissing = false;

  async function spawn(config: TeammateSpawnConfig, signal?: AbortSignal): Promise<TeammateSpawnResult> {
    const { agentId } = config;
    if (starting.has(agentId) || isRunning(lives.get(agentId)))
      return spawnFailure("already-running", `${agentId} runs already`);
    return starting.run(config, (until) => startAnew(config, until), signal);
  }

  async function startAnew(config: TeammateSpawnConfig, signal: AbortSignal): Promise<TeammateSpawnResult> {
    const { agentId } = config;
    try {
      await end(agentId);
      clearRecords(config.runDir);
      atExit.hold(agentId, { runId: runIdOf(config.runDir) });
      const identity = { agentId, incarnation: path.basename(config.runDir) };
      return await runAs(
        identity,
        () => (config.launch.kind === "agent" ? spawnEmbedded(config, signal) : spawnProgram(config, signal)),
        (error) => lives.get(agentId)?.embedded?.fail(error),
      );
    } finally {
      if (!lives.has(agentId)) atExit.release(agentId);
    }
  }

  async function spawnEmbedded(
    config: TeammateSpawnConfig,
    signal: AbortSignal,
  ): Promise<TeammateSpawnResult> {
    const { agentId, runDir } = config;
    const embedded = startEmbedded(config, options.run);
    lives.set(agentId, { config: { agentId, runDir }, embedded });
    void embedded.ended.then(({ end, error }) => options.onEnded?.(agentId, end, error));
    const outcome = await firstOf([embedded.started, embedded.ended], config.deadlineMs, signal);
    if (outcome === "started") {
      return { ok: true, pid: process.pid, ref: { backend: "in-process", agentId, runDir } };
    }
    await end(agentId);
    if (outcome === "aborted") return spawnAborted(signal);
    if (outcome === "deadline") return spawnLate(config.deadlineMs);
    return spawnFailure(
      "exited",
      outcome.error === undefined
        ? "the agent ended before it was ready"
        : `the agent could not start: ${messageOf(outcome.error)}`,
    );
  }

  async function spawnProgram(
    config: TeammateSpawnConfig,
    signal: AbortSignal,
  ): Promise<TeammateSpawnResult> {
    const { agentId, runDir } = config;
    const problem = findLaunchProblem(config);
    if (problem !== undefined) return spawnFailure(problem.code, problem.reason);
    if (signal.aborted) return spawnAborted(signal);
    const terminal = await terminalFor(config);
    if (terminal !== undefined && "missing" in terminal) return spawnFailure("no-terminal", terminal.missing);
    let program: Program;
    try {
      program = await startProgram(config, {
        ...(terminal === undefined ? {} : { pty: terminal }),
        onLine: (line) => options.onOutput?.(agentId, line),
      });
    } catch (error) {
      return spawnFailure("not-started", messageOf(error));
    }
    const life = { config: { agentId, runDir }, program };
    lives.set(agentId, life);
    atExit.hold(agentId, treeOf(life));
    program.ended.then(
      (end) => options.onEnded?.(agentId, end),
      (error: unknown) => options.onEnded?.(agentId, { exitCode: null, signal: null }, error),
    );
    const outcome = await firstOf([program.ended], settleMs, signal);
    const early = typeof outcome === "string" ? undefined : earlyFailure(outcome);
    if (outcome !== "aborted" && early === undefined) {
      const { identity } = program;
      const ref = { backend: "in-process", agentId, process: identity, runDir } as const;
      return { ok: true, pid: identity.pid, ref };
    }
    await end(agentId);
    if (early === undefined) return spawnAborted(signal);
    return spawnFailure(early.code, early.reason, readOutputTail(runDir, 20));
  }

  /** What a program is put on: pipes where undefined. */
  async function terminalFor({
    launch,
  }: TeammateSpawnConfig): Promise<Awaited<ReturnType<typeof loadPty>> | undefined> {
    const needed = launch.kind === "argv" && launch.terminal === true;
    if (!needed && options.pty !== true) return undefined;
    pty ??= loadPty();
    const loaded = await pty;
    if (needed || !("missing" in loaded)) return loaded;
    if (!toldMissing) options.onNote?.(`${loaded.missing}; programs run on pipes and see no terminal`);
    toldMissing = true;
    return undefined;
  }

  async function killExcept(agentId: string, keep: readonly ProcessIdentity[]): Promise<KillReport> {
    await starting.giveUp(agentId);
    return end(agentId, keep);
  }

  async function end(agentId: string, keep: readonly ProcessIdentity[] = []): Promise<KillReport> {
    const life = lives.get(agentId);
    if (life === undefined) return { found: [], ended: [], survivors: [] };
    const { embedded, program } = life;
    const ran = embedded?.running === true;
    embedded?.abort(new Error(`${agentId} is killed`));
    // That an exit record could not be written is told by `onEnded`.
    const ended = Promise.allSettled([embedded?.ended, program?.ended]);
    const [tree] = await Promise.all([
      endTree({ ...treeOf(life), keep }, { graceMs }),
      firstOf([ended], graceMs),
    ]);
    embedded?.revoke(new Error(`${agentId} was killed`));
    // What has ended still writes its exit record.
    if (!isRunning(life)) await firstOf([ended], 5000);
    if (!ran) {
      if (tree.survivors.length === 0) forget(life);
      return tree;
    }
    // An embedded agent has no pid of its own; a loop that never yields cannot be ended from here.
    const note = { pid: 0, command: agentId };
    const survived = embedded?.running === true;
    if (!survived && tree.survivors.length === 0) forget(life);
    return {
      ...(tree.kept === undefined ? {} : { kept: tree.kept }),
      ...(tree.lost === undefined ? {} : { lost: tree.lost }),
      found: [note, ...tree.found],
      ended: survived ? tree.ended : [note, ...tree.ended],
      survivors: survived ? [note, ...tree.survivors] : tree.survivors,
    };
  }

  function forget(life: Life): void {
    const { agentId } = life.config;
    // A later life of the same teammate is not this one's to forget.
    if (lives.get(agentId) !== life) return;
    lives.delete(agentId);
    atExit.release(agentId);
  }

  return {
    type: "in-process",
    isAvailable: async () => ({ available: true, code: "ok", reason: "needs nothing but this process" }),
    spawn,
    kill: (agentId) => killExcept(agentId, []),
    killExcept,
    sendMessage: options.deliver,
    async terminate(agentId, reason) {
      const life = lives.get(agentId);
      if (life === undefined || !isRunning(life)) return false;
      if (life.embedded !== undefined) {
        life.embedded.abort(new Error(reason ?? `${agentId} is asked to end`));
        return true;
      }
      return signalTree(treeOf(life), "SIGTERM");
    },
    async isActive(agentId) {
      const life = lives.get(agentId);
      if (life?.program !== undefined) return liveness(life.program.identity);
      return isRunning(life) ? "alive" : "gone";
    },
    async submitText(agentId, text, signal) {
      const life = lives.get(agentId);
      if (!isRunning(life))
        throw new TroupeError("not-running", `${agentId} does not run`, { kind: "not-reached" });
      if (life?.program?.input === undefined)
        throw new TroupeError("no-terminal", `${agentId} runs without a terminal`, { kind: "unavailable" });
      return life.program.input.submit(text, signal);
    },
    async capture(agentId, lines) {
      const life = lives.get(agentId);
      return life === undefined ? "" : readOutputTail(life.config.runDir, lines);
    },
  };
}

function isRunning(life: Life | undefined): boolean {
  if (life?.embedded !== undefined) return life.embedded.running;
  return life?.program !== undefined && liveness(life.program.identity) !== "gone";
}

function treeOf(life: Life): ProcessTree {
  const runId = runIdOf(life.config.runDir);
  return life.program === undefined ? { runId } : { root: life.program.identity, runId };
}

/** The value of the first promise to settle, or why none did in time. The timer and listener are gone afterwards. */
async function firstOf<T extends readonly Promise<unknown>[]>(
  promises: T,
  ms: number,
  signal?: AbortSignal,
): Promise<Awaited<T[number]> | "deadline" | "aborted"> {
  const over = new AbortController();
  const cut = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
  try {
    const late = delay(ms, cut).then(
      () => "deadline" as const,
      () => "aborted" as const,
    );
    return await Promise.race<Awaited<T[number]> | "deadline" | "aborted">([
      ...(promises as readonly Promise<Awaited<T[number]>>[]),
      late,
    ]);
  } finally {
    over.abort();
  }
}
