import { setTimeout as sleep } from "node:timers/promises";
import { TroupeError } from "./errors.js";

/** Waits `ms` milliseconds; rejects with the signal's reason as soon as it is aborted. */
export async function delay(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

/**
 * Asks `probe` every `everyMs` (default 20) until it gives something else than undefined or false, and returns that.
 * Throws TroupeError `deadline` after `timeoutMs`, naming `what` was waited for, or the signal's reason on abort.
 */
export async function waitUntil<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  options: { timeoutMs: number; everyMs?: number; signal?: AbortSignal },
): Promise<T> {
  const deadline = performance.now() + options.timeoutMs;
  for (;;) {
    options.signal?.throwIfAborted();
    const value = await probe();
    if (value !== undefined && value !== false) return value;
    if (performance.now() >= deadline)
      throw new TroupeError("deadline", `${what}: not within ${options.timeoutMs} ms`, {
        kind: "not-reached",
      });
    await delay(Math.min(options.everyMs ?? 20, Math.max(1, deadline - performance.now())), options.signal);
  }
}

/**
 * `work` with a deadline: its signal is aborted after `timeoutMs` or when `signal` is, and the call then rejects at
 * once, even if `work` does not listen. Error: TroupeError `deadline`, or the outer signal's reason.
 */
export async function withDeadline<T>(
  what: string,
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const late = new TroupeError("deadline", `${what}: not within ${timeoutMs} ms`, { kind: "not-reached" });
  const own = new AbortController();
  const timer = setTimeout(() => own.abort(late), timeoutMs);
  const both = signal === undefined ? own.signal : AbortSignal.any([own.signal, signal]);
  try {
    both.throwIfAborted();
    return await orAbort(work(both), both);
  } finally {
    clearTimeout(timer);
  }
}

/** `promise`, or a rejection with the signal's reason as soon as it is aborted. The work itself goes on. */
export async function orAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener("abort", onAbort);
  }
}
