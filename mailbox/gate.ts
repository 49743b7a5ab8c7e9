/** Runs work when there is room for it. */
export interface Gate {
  <T>(work: () => Promise<T>): Promise<T>;
  /** Whether nothing is inside. */
  isIdle(): boolean;
}

/** Lets at most `width` pieces of work run at once, started in the order of the calls. */
export function createGate(width: number): Gate {
  const waiting: (() => void)[] = [];
  let running = 0;
  const enter = async <T>(work: () => Promise<T>): Promise<T> => {
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
  return Object.assign(enter, { isIdle: () => running === 0 });
}
