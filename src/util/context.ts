import { AsyncLocalStorage } from "node:async_hooks";

/** Who the current asynchronous call chain works for: for logs and attribution, never to look services up. */
export interface WorkIdentity {
  readonly agentId: string;
  readonly incarnation: string;
}

interface Work {
  readonly identity: WorkIdentity;
  readonly fail?: (error: unknown) => void;
}

const storage = new AsyncLocalStorage<Work>();

/**
 * Runs `work`, and everything it starts, as `identity`. `fail` ends that work with an error that nobody in it caught; see
 * {@link failCurrent}.
 */
export function runAs<T>(identity: WorkIdentity, work: () => T, fail?: (error: unknown) => void): T {
  return storage.run({ identity, ...(fail === undefined ? {} : { fail }) }, work);
}

/** The identity that {@link runAs} set for this call chain, or undefined outside of one. */
export function currentIdentity(): WorkIdentity | undefined {
  return storage.getStore()?.identity;
}

/**
 * Ends the work in whose call chain an error came up that nobody caught; false outside of any. To be called where the process
 * is told of such errors: Node gives their handlers the context in which they came up.
 */
export function failCurrent(error: unknown): boolean {
  const fail = storage.getStore()?.fail;
  fail?.(error);
  return fail !== undefined;
}
