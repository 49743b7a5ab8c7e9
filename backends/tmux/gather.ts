/** Something that waits for its turn, with how it is answered. */
export interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly done: (answer: Answer) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Gathers what is asked for until its turn has come, so that one turn serves all who wait. The result rejects with the
 * signal's reason while it waits; once its turn has come, the signal does not stop it.
 *
 * `takeTurn` does its work when no other turn runs any more; its signal is aborted when nobody waits any longer. `serve`
 * answers for everything that it is given; what it throws is the answer for all that have none yet.
 */
export function createGather<Item, Answer>(
  takeTurn: (work: () => Promise<void>, signal: AbortSignal) => Promise<void>,
  serve: (all: readonly Waiting<Item, Answer>[]) => Promise<void>,
): (item: Item, signal?: AbortSignal) => Promise<Answer> {
  const waiting = new Set<Waiting<Item, Answer>>();
  let turn: AbortController | undefined;

  async function startTurn(): Promise<void> {
    const own = new AbortController();
    turn = own;
    let served: readonly Waiting<Item, Answer>[] = [];
    const take = (): void => {
      if (turn !== own) return;
      turn = undefined;
      served = [...waiting];
      waiting.clear();
    };
    try {
      await takeTurn(() => {
        take();
        return serve(served);
      }, own.signal);
    } catch (error) {
      take();
      for (const { failed } of served) failed(error);
    }
  }

  return (item, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const giveUp = (): void => {
        if (!waiting.delete(entry)) return;
        if (waiting.size === 0) {
          turn?.abort(signal?.reason);
          turn = undefined;
        }
        reject(signal?.reason);
      };
      const settle = (): void => signal?.removeEventListener("abort", giveUp);
      const entry: Waiting<Item, Answer> = {
        item,
        done(answer) {
          settle();
          resolve(answer);
        },
        failed(error) {
          settle();
          reject(error);
        },
      };
      signal?.addEventListener("abort", giveUp, { once: true });
      waiting.add(entry);
      if (turn === undefined) void startTurn();
    });
}
