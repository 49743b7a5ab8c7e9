import { TroupeError } from "../../src/util/errors.js";
import { liveness, type ProcessIdentity } from "../../src/util/process-identity.js";
import type { TmuxCommand } from "./client.js";
import {
  arrange,
  killPaneIf,
  listAllPanes,
  listZoomed,
  type PaneRow,
  parseZoomed,
  restoreBorder,
  zoomPane,
} from "./commands.js";
import type { Waiting } from "./gather.js";
import type { KnownPanes } from "./known-panes.js";
import { teamWindows } from "./layout.js";
import { type TmuxPlace, tmuxError } from "./place.js";

/** A pane on one life of a server. Without a `tag` it is closed whatever its label says. */
export interface PaneRef {
  readonly pane: string;
  /** The window in which it was opened. */
  readonly window: string;
  readonly server: ProcessIdentity;
  readonly tag?: string;
}

export interface ClosePanesOptions {
  readonly place: TmuxPlace;
  readonly known: KnownPanes;
  readonly owner: string;
  /** Told of a window that could not be put back as it was. */
  readonly onNote?: (text: string) => void;
}

/** How long a server has to close panes, also after a silence: a busy one must not keep them for it. */
const closeMs = 5000;

/** How many panes one call closes: each takes some 150 bytes of the 16 KB of a call. */
const together = 60;

/** Closes panes, as many with one call as it takes, and gives their windows back. Throws TroupeError. */
export function createClosePanes({ place, known, owner, onNote }: ClosePanesOptions) {
  const { client } = place;

  async function closePanes(all: readonly Waiting<PaneRef, void>[]): Promise<void> {
    for (let start = 0; start < all.length; start += together)
      await closeSome(all.slice(start, start + together));
  }

  async function closeSome(waiting: readonly Waiting<PaneRef, void>[]): Promise<void> {
    const here = waiting.filter(({ item }) => liveness(item.server) !== "gone");
    const refs = here.map(({ item }) => item);
    const { rows, stdout } = refs.length === 0 ? { rows: [], stdout: "" } : await killAll(refs);
    for (const { item, failed } of here)
      if (rows.some((row) => isSame(row, item))) failed(keptError(item.pane));
    for (const { done } of waiting) done();
    try {
      for (const window of new Set(refs.map((ref) => ref.window)))
        await giveBack(window, rows, parseZoomed(stdout, window));
    } catch (error) {
      // The panes are closed all the same.
      if (!(error instanceof TroupeError)) throw error;
      onNote?.(`a window of tmux (${client.socket}) was not put back as it was: ${error.message}`);
    }
    if (refs.length > 0) place.closed?.(rows);
  }

  /** Closes what carries its tag, and gives what is left. Throws TroupeError where a server that runs does not answer. */
  async function killAll(refs: readonly PaneRef[]): Promise<{ rows: readonly PaneRow[]; stdout: string }> {
    const close = refs.map(({ pane, server, tag }) => killPaneIf(pane, server.pid, tag));
    const commands = [listZoomed(), ...close, listAllPanes()];
    let answer = await client.run(commands, closeMs);
    const runs = () => refs.some(({ server }) => liveness(server) === "alive");
    if (!answer.ok && answer.failure === "no-server" && runs()) {
      // Its socket was removed. One of our own makes it again at this look.
      place.forget();
      await place.ready();
      answer = await client.run(commands, closeMs);
      if (!answer.ok && runs()) throw tmuxError(client, answer);
    }
    return { rows: await known.closeDoubtful(known.rowsOf(answer)), stdout: answer.stdout };
  }

  /**
   * A window without panes of ours gets its options back; one that keeps some is arranged anew. tmux has undone the zoom
   * of a pane in it.
   */
  async function giveBack(
    window: string,
    rows: readonly PaneRow[],
    zoomed: string | undefined,
  ): Promise<void> {
    const panes = rows.filter((row) => row.window === window);
    const kept = panes[0]?.restore ?? "";
    const [team] = teamWindows(panes, owner, place.lead());
    const { placement } = known;
    let commands: TmuxCommand[] = [];
    if (kept !== "" && panes.every((row) => row.owner === "")) commands = restoreBorder(window, kept);
    else if (placement !== undefined && team !== undefined && team.panes > 1 && !panes[0]?.zoomed)
      commands = arrange(window, placement, team.lead);
    if (zoomed !== undefined && panes.length > 1 && panes.some((row) => row.pane === zoomed))
      commands = [...commands, zoomPane(zoomed)];
    if (commands.length === 0) return;
    const answer = await client.run(commands);
    // A window that went away meanwhile needs nothing more.
    if (!answer.ok && !["no-target", "no-server", "crashed"].includes(answer.failure))
      throw tmuxError(client, answer);
  }

  function keptError(pane: string): TroupeError {
    return new TroupeError("pane-not-closed", `tmux (${client.socket}) keeps the pane ${pane}`);
  }

  return closePanes;
}

function isSame(row: PaneRow, { pane, server, tag }: PaneRef): boolean {
  return row.pane === pane && row.serverPid === server.pid && (row.tag || tag) === tag;
}
