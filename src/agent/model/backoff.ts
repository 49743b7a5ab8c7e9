/** The wait after 429 and 529, shared by all agents of one process: one that is told to wait makes the others wait. */
export interface Backoff {
  /** Resolves when requests may be sent again; rejects with the signal's reason. */
  ready(signal: AbortSignal): Promise<void>;
  /** Records a refusal and gives the wait in milliseconds before the next attempt. */
  refused(attempt: number, retryAfterMs: number | undefined): number;
}
