import { orAbort } from "./wait.js";

/**
 * Runs work at once where one of a number of slots is free, else in the order of the calls. Work that is given up while it
 * waits is not begun, and the call rejects with the signal's reason.
 */
export type Slots = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** `count` pieces of work at a time; at least 1. */
export function createSlots(count: number): Slots {
  const waiting: (() => void)[] = [];
  let free = count;

  const giveBack = (): void => {
    const next = waiting.shift();
    if (next === undefined) free++;
    else next();
  };

  const take = async (signal: AbortSignal | undefined): Promise<void> => {
    signal?.throwIfAborted();
    if (free > 0) {
      free--;
      return;
    }
    let call: () => void = () => undefined;
    const called = new Promise<void>((resolve) => {
      call = resolve;
    });
    waiting.push(call);
    try {
      await (signal === undefined ? called : orAbort(called, signal));
    } catch (error) {
      const place = waiting.indexOf(call);
      // One that was called in the same moment has a slot to give back.
      if (place === -1) giveBack();
      else waiting.splice(place, 1);
      throw error;
    }
  };

  return async (work, signal) => {
    await take(signal);
    try {
      return await work();
    } finally {
      giveBack();
    }
  };
}
