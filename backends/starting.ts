/** The spawns that are under way in one executor. */
export interface Starting {
  has(agentId: string): boolean;
  /** Runs a spawn. Its signal is aborted by the caller's, or by {@link giveUp}. At most one at a time per teammate. */
  run<T>(
    config: { readonly agentId: string; readonly runDir: string },
    work: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>;
  /** Cuts a spawn short and waits until it has taken back what it had made; gives its run directory, if there was one. */
  giveUp(agentId: string): Promise<string | undefined>;
}

export function createStarting(): Starting {
  const spawns = new Map<
    string,
    { readonly runDir: string; readonly stop: AbortController; readonly over: Promise<unknown> }
  >();
  return {
    has: (agentId) => spawns.has(agentId),
    async run({ agentId, runDir }, work, signal) {
      const stop = new AbortController();
      const spawned = work(signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]));
      spawns.set(agentId, { runDir, stop, over: Promise.allSettled([spawned]) });
      try {
        return await spawned;
      } finally {
        spawns.delete(agentId);
      }
    },
    async giveUp(agentId) {
      const spawn = spawns.get(agentId);
      if (spawn === undefined) return undefined;
      spawn.stop.abort(new Error(`${agentId} is killed`));
      await spawn.over;
      return spawn.runDir;
    },
  };
}
