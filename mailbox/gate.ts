/** Runs work when there is room for it. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

/** Lets at most `width` pieces of work run at once, started in the order of the calls. */
export function createGate(width: number): Gate {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= width) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}

/**
 * One `flush` for all who ask while another one runs: what was done before the call is covered by the flush that the
 * returned promise stands for, because that flush starts after the call.
 */
export function createGroupCommit(flush: () => Promise<void>): () => Promise<void> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    next ??= running.then(() => {
      next = undefined;
      const flushing = flush();
      running = flushing.catch(() => undefined);
      return flushing;
    });
    return next;
  };
}
