import { AsyncLocalStorage, createHook } from "node:async_hooks";

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

/** A stretch of somebody's work that let nobody else run; times in milliseconds. */
export interface Stretch {
  readonly identity: WorkIdentity;
  readonly ms: number;
  /** How long the process computed meanwhile. */
  readonly busyMs: number;
}

/**
 * Tells of every stretch of work that takes longer than `boundMs`, until the result is called. Costs time at every callback
 * and promise of the process: for who has a reason to look, and only for as long. `onLong` must not throw.
 */
export function watchStretches(boundMs: number, onLong: (stretch: Stretch) => void): () => void {
  interface Open {
    readonly identity: WorkIdentity | undefined;
    begun: number;
    busy: number;
  }
  const open: Open[] = [];
  const hook = createHook({
    before: () => void open.push({ identity: currentIdentity(), begun: performance.now(), busy: busyMs() }),
    after() {
      const stretch = open.pop();
      const now = performance.now();
      if (stretch === undefined || now - stretch.begun <= boundMs) return;
      const { identity, begun } = stretch;
      const busy = busyMs();
      if (identity !== undefined) onLong({ identity, ms: now - begun, busyMs: busy - stretch.busy });
      // What it ran inside of has had no part in it.
      for (const outer of open) Object.assign(outer, { begun: now, busy });
    },
  });
  hook.enable();
  return () => void hook.disable();
}

/** How long this process has computed so far, in milliseconds. */
export function busyMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
