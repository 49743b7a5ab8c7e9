import { TroupeError } from "../../src/util/errors.js";
import { withLock } from "../../src/util/lock.js";
import { liveness, type ProcessIdentity, sameProcess } from "../../src/util/process-identity.js";
import { orAbort } from "../../src/util/wait.js";
import type { Placement } from "../types.js";
import type { TmuxAnswer, TmuxCommand } from "./client.js";
import {
  arrange,
  forgetZoom,
  killPaneIf,
  listAllPanes,
  listZoomed,
  type PaneRow,
  parseRows,
  parseZoomed,
  placeholderTag,
  restoreBorder,
  zoomPane,
} from "./commands.js";
import { isLabelled, labelPane } from "./label.js";
import { roomFor, type TeamWindow, teamWindows, windowWithRoom } from "./layout.js";
import { type OpenCall, openInWindow, openWindows } from "./open-commands.js";
import { type PlaceState, type TmuxPlace, tmuxError } from "./place.js";
import { createRequests, type OpenedPane, type PaneRequest, type WaitingRequest } from "./requests.js";

/** A pane on one life of a server. Without a `tag` it is closed whatever its label says. */
export interface PaneRef {
  readonly pane: string;
  /** The window in which it was opened. */
  readonly window: string;
  readonly server: ProcessIdentity;
  readonly tag?: string;
}

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
  /** Closes a pane of ours and gives its window back; does nothing for one that is gone or not ours. Throws TroupeError. */
  close(ref: PaneRef): Promise<void>;
  /** Closes what a server that did not answer in time has opened later. Throws TroupeError where it still does not. */
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
}

const lockMs = 20_000;

/** How long a server has to open panes: what it does later with a call that was given up is found only at the next look. */
const openMs = 5000;

export function createPanes({ place, owner, windowName, lockDir }: PanesOptions): Panes {
  const { client } = place;
  // What the server showed last, with what we opened since: one call less for each turn. Undefined: look again.
  let known: readonly PaneRow[] | undefined;
  let seen: ProcessIdentity | undefined;
  let lastPlacement: Placement | undefined;
  let queue: Promise<unknown> = Promise.resolve();
  /** Tags of panes that were asked for in a call that was given up. */
  const doubtful = new Set<string>();
  const requests = createRequests(inTurn, serve);

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

  /** Answers every request; never rejects. */
  async function serve(all: readonly WaitingRequest[]): Promise<void> {
    try {
      await openAll([...all]);
    } catch (error) {
      // Says nothing to those whose pane is open.
      for (const request of all) request.failed(error);
    }
  }

  /** Opens and takes out one request after the other. Throws what keeps the rest from being opened. */
  async function openAll(waiting: WaitingRequest[]): Promise<void> {
    const full = new Set<string>();
    for (let attempt = 0; waiting.length > 0; attempt++) {
      const state = await place.ready();
      if (seen === undefined || !sameProcess(seen, state.server)) known = undefined;
      seen = state.server;
      known ??= await closeDoubtful(await list());
      const [first] = waiting;
      if (first === undefined) return;
      lastPlacement = first.placement;
      const target = windowWithRoom(teamWindows(known, owner, state.lead), first.placement, full);
      const { commands, count } = callFor(state, target, first.placement, waiting);
      const asked = waiting.slice(0, count);
      const answer = await client.run(commands, openMs);
      const rows = parseRows(answer.stdout);
      const strange = rows.filter((row) => row.serverPid !== state.server.pid);
      if (strange.length > 0) {
        // Another server took the socket between the look and the call: nothing of it is ours but these panes.
        await client.run(strange.map((row) => killPaneIf(row.pane, row.serverPid, undefined)));
        forget();
        if (attempt >= 2) throw new TroupeError("tmux-other", `tmux (${client.socket}) was started anew`);
        continue;
      }
      if (rows.length > 0) attempt = 0;
      const opened = waiting.splice(0, Math.min(rows.length, count));
      remember(rows, opened);
      for (const [index, request] of opened.entries()) {
        const row = rows[index];
        if (row === undefined) continue;
        if (!isLabelled(answer.stdout, row.pane, request.label.tag))
          await client.run(labelPane(row.pane, request.label));
        request.opened({ row, server: state.server });
      }
      if (answer.ok && opened.length === count) continue;
      forget();
      if (answer.ok) throw new TroupeError("tmux-other", `tmux (${client.socket}) told no new pane of ours`);
      if (answer.failure === "timeout") for (const { label } of asked) doubtful.add(label.tag);
      if (answer.failure === "no-space" && target !== undefined) {
        full.add(target.window);
        await client.run([forgetZoom(target.window)]);
      } else if (attempt >= 2 || !["no-target", "no-server", "crashed"].includes(answer.failure))
        throw tmuxError(client, answer);
    }
  }

  function callFor(
    state: PlaceState,
    target: TeamWindow | undefined,
    placement: Placement,
    waiting: readonly PaneRequest[],
  ): OpenCall {
    const wanted = JSON.stringify(placement);
    const other = waiting.findIndex((request) => JSON.stringify(request.placement) !== wanted);
    const alike = other < 0 ? waiting : waiting.slice(0, other);
    if (target === undefined) {
      const placeholder = known?.find((row) => row.owner === owner && row.tag === placeholderTag)?.window;
      return openWindows(state.session, windowName, alike, placeholder);
    }
    const { window } = target;
    const borrows = state.borrowed?.window === window && !isBorrowed(window) ? state.borrowed : undefined;
    return openInWindow(state.session, target, alike, roomFor(target, placement), borrows?.border);
  }

  function isBorrowed(window: string): boolean {
    return known?.some((row) => row.window === window && row.restore !== "") ?? false;
  }

  function remember(rows: readonly PaneRow[], opened: readonly PaneRequest[]): void {
    const ours = opened.flatMap(({ label: { tag } }, index) => {
      const row = rows[index];
      return row === undefined ? [] : [{ ...row, owner, tag }];
    });
    const panes = new Set(ours.map(({ pane }) => pane));
    const others = known?.filter((other) => !panes.has(other.pane) && other.tag !== placeholderTag) ?? [];
    const all = [...others, ...ours];
    const [last] = ours.slice(-1);
    const count = all.filter(({ window }) => window === last?.window).length;
    // Somebody else opened or closed panes meanwhile.
    known = last !== undefined && count !== last.panes ? undefined : all;
  }

  /** Closes what a server that did not answer has opened after all; gives the panes that are left. */
  async function closeDoubtful(rows: readonly PaneRow[]): Promise<readonly PaneRow[]> {
    const late = rows.filter((row) => row.owner === owner && doubtful.has(row.tag));
    if (late.length === 0) return rows;
    const close = late.map(({ pane, serverPid, tag }) => killPaneIf(pane, serverPid, tag));
    const left = rowsOf(await client.run([...close, listAllPanes()]));
    for (const { tag } of late) doubtful.delete(tag);
    return left;
  }

  function forget(): void {
    known = undefined;
    place.forget();
  }

  async function list(): Promise<readonly PaneRow[]> {
    return rowsOf(await client.run([listAllPanes()]));
  }

  function rowsOf(answer: TmuxAnswer): readonly PaneRow[] {
    if (answer.ok) return parseRows(answer.stdout);
    if (answer.failure === "no-server" || answer.failure === "crashed") return [];
    throw tmuxError(client, answer);
  }

  async function close({ pane, window, server, tag }: PaneRef): Promise<void> {
    if (liveness(server) === "gone") return;
    const answer = await client.run([listZoomed(), killPaneIf(pane, server.pid, tag), listAllPanes()]);
    const rows = await closeDoubtful(rowsOf(answer));
    known = rows;
    const kept = rows.some(
      (row) => row.pane === pane && row.serverPid === server.pid && (row.tag || tag) === tag,
    );
    if (kept) throw new TroupeError("pane-not-closed", `tmux (${client.socket}) keeps the pane ${pane}`);
    await giveBack(window, rows, parseZoomed(answer.stdout, window));
    place.closed?.(rows);
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
    let commands: TmuxCommand[] = [];
    if (kept !== "" && panes.every((row) => row.owner === "")) commands = restoreBorder(window, kept);
    else if (lastPlacement !== undefined && team !== undefined && team.panes > 1 && !panes[0]?.zoomed)
      commands = arrange(window, lastPlacement, team.lead);
    if (zoomed !== undefined && panes.length > 1 && panes.some((row) => row.pane === zoomed))
      commands = [...commands, zoomPane(zoomed)];
    if (commands.length === 0) return;
    const answer = await client.run(commands);
    // A window that went away meanwhile needs nothing more.
    if (!answer.ok && !["no-target", "no-server", "crashed"].includes(answer.failure))
      throw tmuxError(client, answer);
    known = undefined;
  }

  return {
    prepare: () => inTurn(async () => void (await place.ready())),
    open: requests.add,
    close: (ref) => inTurn(() => close(ref)),
    async tidy() {
      if (doubtful.size > 0) await inTurn(async () => void (await closeDoubtful(await list())));
    },
    list,
  };
}
