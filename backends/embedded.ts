import { teammateEnvironment } from "./environment.js";
import { writeExit } from "./records.js";
import type { ExitRecord, TeammateSpawnConfig } from "./types.js";

/**
 * Runs one embedded agent until it ends. Called in the agent's own asynchronous context. It calls `started` as proof of
 * life, ends its work when `signal` is aborted, and settles when nothing of it runs any more. Where it does not, `revoked` is
 * aborted: from then on it must not act on anybody. Programs that it starts get `config.env`, by which they are found again.
 */
export type RunEmbedded = (
  config: TeammateSpawnConfig,
  started: () => void,
  signal: AbortSignal,
  revoked: AbortSignal,
) => Promise<void>;

/** An embedded agent that was started. */
export interface Embedded {
  readonly started: Promise<"started">;
  /** Resolves, never rejects, when the run has settled and its exit record is written. */
  readonly ended: Promise<{ readonly end: Omit<ExitRecord, "at">; readonly error?: unknown }>;
  readonly running: boolean;
  abort(reason: Error): void;
  /** Ends it with an error that came up outside of the run's own promise. */
  fail(error: unknown): void;
  /** Takes from it what it could still act through. */
  revoke(reason: Error): void;
}

/** Starts `run` for a teammate. Exit code 0 where it resolves or was aborted, 1 where it throws. */
export function startEmbedded(config: TeammateSpawnConfig, run: RunEmbedded): Embedded {
  const controller = new AbortController();
  const revocation = new AbortController();
  let running = true;
  let failed: { error: unknown } | undefined;
  let onStarted: () => void = () => undefined;
  const started = new Promise<"started">((resolve) => {
    onStarted = () => resolve("started");
  });
  const env = teammateEnvironment(config);

  async function live(): Promise<Awaited<Embedded["ended"]>> {
    try {
      await run({ ...config, env }, onStarted, controller.signal, revocation.signal);
    } catch (error) {
      if (!isAbort(error, controller.signal)) failed ??= { error };
    }
    running = false;
    const end = { exitCode: failed === undefined ? 0 : 1, signal: null };
    try {
      await writeExit(config.runDir, end);
    } catch (error) {
      failed ??= { error };
    }
    return { end, ...failed };
  }

  return {
    started,
    ended: live(),
    get running() {
      return running;
    },
    abort: (reason) => controller.abort(reason),
    revoke: (reason) => revocation.abort(reason),
    fail(error) {
      if (!running) return;
      failed ??= { error };
      controller.abort(error instanceof Error ? error : new Error(String(error)));
    },
  };
}

/** Ending with the reason of its abort, or with an AbortError, is how a run says that it was stopped. */
function isAbort(error: unknown, signal: AbortSignal): boolean {
  return (
    signal.aborted && (error === signal.reason || (error instanceof Error && error.name === "AbortError"))
  );
}
