import { withLock } from "../../src/util/lock.js";
import { orAbort } from "../../src/util/wait.js";
import { createClosePanes, type PaneRef } from "./close-panes.js";
import type { PaneRow } from "./commands.js";
import { createGather } from "./gather.js";
import { createKnownPanes } from "./known-panes.js";
import type { PaneRequest } from "./open-commands.js";
import { createOpenPanes, type OpenedPane } from "./open-panes.js";
import type { TmuxPlace } from "./place.js";

/** Opens and closes a team's panes in one place, in turn, also between processes. */
export interface Panes {
  /**
   * Opens a labelled pane in a window with room or in a new one. Those who ask at once are served by the same calls. Throws
   * TroupeError, code `tmux-…`, or the signal's reason while it waits for its turn; once that has come, the signal does not
   * stop it.
   */
  open(request: PaneRequest, signal?: AbortSignal): Promise<OpenedPane>;
  /** Makes the place ready without a pane. Throws TroupeError. */
  prepare(): Promise<void>;
  /**
   * Closes a pane of ours and gives its window back; does nothing for one that is gone or not ours. Those who ask at once are
   * served by the same calls. Throws TroupeError.
   */
  close(ref: PaneRef): Promise<void>;
  /** A pane with this tag was given up and may be there still, or come yet: it is closed at a later turn. */
  doubt(tag: string): void;
  /** Closes what is doubtful now. Throws TroupeError where the server does not answer. */
  tidy(): Promise<void>;
  /** All panes of the server now; none if it is gone. Throws TroupeError where it does not answer. */
  list(): Promise<readonly PaneRow[]>;
}

export interface PanesOptions {
  readonly place: TmuxPlace;
  readonly owner: string;
  readonly windowName: string;
  /** Directory of the lock that every process of ours takes on this server. */
  readonly lockDir: string;
  readonly onNote?: (text: string) => void;
}

const lockMs = 20_000;

export function createPanes({ place, owner, windowName, lockDir, onNote }: PanesOptions): Panes {
  const known = createKnownPanes(place.client, owner);
  let queue: Promise<unknown> = Promise.resolve();

  function inTurn<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const before = queue;
    const turn = (async () => {
      await (signal === undefined ? before : orAbort(before, signal));
      return withLock(lockDir, lockMs, work, signal);
    })();
    // One that was given up leaves those before it where they are.
    queue = Promise.allSettled([before, turn]);
    return turn;
  }

  const open = createGather(inTurn, createOpenPanes({ place, known, owner, windowName }));
  const close = createGather(
    inTurn,
    createClosePanes({ place, known, owner, ...(onNote === undefined ? {} : { onNote }) }),
  );

  return {
    prepare: () => inTurn(async () => void (await place.ready())),
    open,
    close: (ref) => close(ref),
    doubt: (tag) => known.doubt([tag]),
    async tidy() {
      if (!known.isDoubtful()) return;
      await inTurn(async () => void (await known.closeDoubtful(await known.list())));
    },
    list: known.list,
  };
}
