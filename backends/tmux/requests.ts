import type { ProcessIdentity } from "../../src/util/process-identity.js";
import type { Placement } from "../types.js";
import type { PaneRow } from "./commands.js";
import type { PaneLabel } from "./label.js";

/** A pane that somebody wants. Its command line ends in the label's tag, by which the new pane is known. */
export interface PaneRequest {
  readonly argv: readonly string[];
  readonly label: PaneLabel;
  readonly placement: Placement;
}

/** A pane that was opened, and the life of the server on which it is. */
export interface OpenedPane {
  readonly row: PaneRow;
  readonly server: ProcessIdentity;
}

/** A request that waits for its answer. */
export interface WaitingRequest extends PaneRequest {
  readonly opened: (pane: OpenedPane) => void;
  readonly failed: (error: unknown) => void;
}

/** Gathers requests until their turn has come, so that one turn serves all that wait. */
export interface Requests {
  /** Rejects with the signal's reason while it waits for its turn; once that has come, the signal does not stop it. */
  add(request: PaneRequest, signal?: AbortSignal): Promise<OpenedPane>;
}

/**
 * `takeTurn` resolves with what its work gives when no other turn runs any more; its signal is aborted when nobody waits any
 * longer. `serve` answers every request that it is given, and does not reject.
 */
export function createRequests(
  takeTurn: (work: () => Promise<void>, signal: AbortSignal) => Promise<void>,
  serve: (requests: readonly WaitingRequest[]) => Promise<void>,
): Requests {
  const waiting = new Set<WaitingRequest>();
  let turn: AbortController | undefined;

  function startTurn(): void {
    const own = new AbortController();
    turn = own;
    const end = (): readonly WaitingRequest[] => {
      if (turn !== own) return [];
      turn = undefined;
      const all = [...waiting];
      waiting.clear();
      return all;
    };
    takeTurn(() => serve(end()), own.signal).catch((error: unknown) => {
      for (const request of end()) request.failed(error);
    });
  }

  return {
    add(request, signal) {
      return new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const giveUp = (): void => {
          if (!waiting.delete(entry)) return;
          if (waiting.size === 0) {
            turn?.abort(signal?.reason);
            turn = undefined;
          }
          reject(signal?.reason);
        };
        const done = (): void => signal?.removeEventListener("abort", giveUp);
        const entry: WaitingRequest = {
          ...request,
          opened(pane) {
            done();
            resolve(pane);
          },
          failed(error) {
            done();
            reject(error);
          },
        };
        signal?.addEventListener("abort", giveUp, { once: true });
        waiting.add(entry);
        if (turn === undefined) startTurn();
      });
    },
  };
}
