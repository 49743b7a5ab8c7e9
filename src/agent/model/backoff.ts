import { delay } from "../../util/wait.js";

/** The wait after a refused request, shared by all agents of one process: one that is told to wait makes the others wait. */
export interface Backoff {
  /** Resolves when requests may be sent again; rejects with the signal's reason. */
  ready(signal: AbortSignal): Promise<void>;
  /** Records a refusal and gives the wait in milliseconds before the next attempt (the first refusal is attempt 1). */
  refused(attempt: number, retryAfterMs: number | undefined): number;
}

export interface BackoffOptions {
  /** The wait after a first refusal that names none; it doubles with every further attempt. Default 1,000. */
  readonly baseMs?: number;
  /** Longest wait that is not the server's own. Default 30,000. */
  readonly maxMs?: number;
  /** Longest time one refusal holds back the other agents; then one of them tries again. Default 600,000. */
  readonly maxSharedMs?: number;
  readonly now?: () => number;
  /** In [0, 1), as Math.random. */
  readonly random?: () => number;
}

/** One per process. A server's wait is never cut short: jitter only adds to it, and spreads the agents that wait. */
export function createBackoff(options: BackoffOptions = {}): Backoff {
  const { baseMs = 1000, maxMs = 30_000, maxSharedMs = 600_000 } = options;
  const { now = Date.now, random = Math.random } = options;
  let openAt = 0;
  let spread = 0;
  return {
    async ready(signal) {
      signal.throwIfAborted();
      for (let wait = openAt - now(); wait > 0; wait = openAt - now())
        await delay(Math.ceil(wait + random() * spread), signal);
    },
    refused(attempt, retryAfterMs) {
      const wait = retryAfterMs ?? Math.min(maxMs, baseMs * 2 ** (attempt - 1)) * (0.5 + random() / 2);
      const shared = Math.min(wait, maxSharedMs);
      if (now() + shared > openAt) {
        openAt = now() + shared;
        spread = Math.min(shared / 5, 2000);
      }
      return Math.ceil(wait);
    },
  };
}
