/**
 * Yields what `work` emits, as it emits it, and returns its value (or throws its error) after the last of it. When the
 * consumer stops early, the work's signal is aborted and its end is waited for.
 */
export async function* relay<T, R>(
  work: (emit: (event: T) => void, signal: AbortSignal) => Promise<R>,
  signal: AbortSignal,
): AsyncGenerator<T, R> {
  const own = new AbortController();
  const events: T[] = [];
  let wake: (() => void) | undefined;
  let done = false;
  const emit = (event: T) => {
    events.push(event);
    wake?.();
  };
  const result = work(emit, AbortSignal.any([signal, own.signal])).finally(() => {
    done = true;
    wake?.();
  });
  // The error is thrown by the last `await result`; until then it must not count as unhandled.
  result.catch(() => {});
  try {
    for (;;) {
      for (let event = events.shift(); event !== undefined; event = events.shift()) yield event;
      if (done) return await result;
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (done || events.length > 0) resolve();
      });
    }
  } finally {
    own.abort();
    await result.catch(() => {});
  }
}
