import { AsyncLocalStorage } from "node:async_hooks";

/** Who the current asynchronous call chain works for: for logs and attribution, never to look services up. */
export interface WorkIdentity {
  readonly agentId: string;
  readonly incarnation: string;
}

const storage = new AsyncLocalStorage<WorkIdentity>();

/** Runs `work`, and everything it starts, as `identity`. */
export function runAs<T>(identity: WorkIdentity, work: () => T): T {
  return storage.run(identity, work);
}

/** The identity that {@link runAs} set for this call chain, or undefined outside of one. */
export function currentIdentity(): WorkIdentity | undefined {
  return storage.getStore();
}

/** A callback that keeps the identity of the place where it was made; for emitters, watchers and sockets. */
export function bindIdentity<A extends unknown[], R>(callback: (...args: A) => R): (...args: A) => R {
  return AsyncLocalStorage.bind(callback);
}
