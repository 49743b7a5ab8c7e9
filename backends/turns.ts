import { orAbort } from "../src/util/wait.js";

/** Runs work one piece after the other, in the order of the calls. One that is given up while it waits rejects at once. */
export type Turns = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return (work, signal) => {
    const before = last;
    const turn = (signal === undefined ? before : orAbort(before, signal)).then(work);
    last = Promise.allSettled([before, turn]);
    return turn;
  };
}
