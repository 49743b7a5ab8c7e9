/**
 * Calls `restore` when the process exits, or is ended by a signal that nobody else handles. The result takes that back.
 * `restore` is synchronous and must not throw.
 */
export function atExit(restore: () => void): () => void {
  const onSignal = (signal: NodeJS.Signals): void => {
    // Another handler decides whether this is the end; alone, it is.
    if (process.listenerCount(signal) > 1) return;
    cancel();
    restore();
    process.kill(process.pid, signal);
  };
  const cancel = (): void => {
    process.off("exit", restore);
    for (const signal of endings) process.off(signal, onSignal);
  };
  process.on("exit", restore);
  for (const signal of endings) process.on(signal, onSignal);
  return cancel;
}

const endings = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
