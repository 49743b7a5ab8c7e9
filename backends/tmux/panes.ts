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
  killWindow,
  listAllPanes,
  listZoomed,
  newWindow,
  type PaneRow,
  parseRows,
  parseZoomed,
  placeholderTag,
  rememberBorder,
  restoreBorder,
  splitWindow,
  zoomPane,
} from "./commands.js";
import { type TeamWindow, teamWindows, windowWithRoom } from "./layout.js";
import { createOpenedPanes } from "./opened-panes.js";
import { type PlaceState, type TmuxPlace, tmuxError } from "./place.js";

/** A pane on one life of a server. `tag` is absent for a pane that did not get as far as to be tagged. */
export interface PaneRef {
  readonly pane: string;
  /** The window in which it was opened. */
  readonly window: string;
  readonly server: ProcessIdentity;
  readonly tag?: string;
}

/** Opens and closes a team's panes in one place, one at a time, also between processes. */
export interface Panes {
  /**
   * Opens a pane that runs `argv`, in a window with room or in a new one. Throws TroupeError, code `tmux-…`, or the
   * signal's reason while it waits for its turn; once that has come, the signal does not stop it.
   */
  open(
    argv: readonly string[],
    placement: Placement,
    signal?: AbortSignal,
  ): Promise<{ row: PaneRow; server: ProcessIdentity }>;
  /** Makes the place ready without a pane. Throws TroupeError. */
  prepare(): Promise<void>;
  /** Closes a pane of ours and gives its window back; does nothing for one that is gone or not ours. Throws TroupeError. */
  close(ref: PaneRef): Promise<void>;
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

export function createPanes({ place, owner, windowName, lockDir }: PanesOptions): Panes {
  const { client } = place;
  // What the server showed last, with what we opened since: one call per spawn instead of two. Undefined: look again.
  let known: readonly PaneRow[] | undefined;
  let seen: ProcessIdentity | undefined;
  let lastPlacement: Placement | undefined;
  let queue: Promise<unknown> = Promise.resolve();
  const opened = createOpenedPanes(lockDir);

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

  async function open(argv: readonly string[], placement: Placement) {
    lastPlacement = placement;
    const full = new Set<string>();
    for (let attempt = 0; ; attempt++) {
      const state = await place.ready();
      if (seen === undefined || !sameProcess(seen, state.server)) known = undefined;
      seen = state.server;
      known ??= opened.completed(await list());
      const target = windowWithRoom(teamWindows(known, owner, state.lead), placement, full);
      const answer = await client.run(
        target === undefined ? openWindow(state, argv) : split(state, target, placement, argv),
      );
      const [row] = parseRows(answer.stdout);
      if (row !== undefined && row.serverPid === state.server.pid) {
        remember(row);
        opened.add(row, owner);
        if (!answer.ok) forget();
        return { row, server: state.server };
      }
      forget();
      if (row !== undefined && attempt < 2) {
        // Another server took the socket between the look and the call: nothing of it is ours but this pane.
        await client.run([killPaneIf(row.pane, row.serverPid, undefined)]);
        continue;
      }
      if (answer.ok) throw new TroupeError("tmux-other", `tmux (${client.socket}) told no new pane of ours`);
      if (answer.failure === "no-space" && target !== undefined) {
        full.add(target.window);
        await client.run([forgetZoom(target.window)]);
      } else if (attempt >= 2 || !["no-target", "no-server", "crashed"].includes(answer.failure))
        throw tmuxError(client, answer);
    }
  }

  function openWindow(state: PlaceState, argv: readonly string[]): TmuxCommand[] {
    const open = newWindow(state.session, windowName, argv);
    const placeholder = known?.find((row) => row.owner === owner && row.tag === placeholderTag)?.window;
    return placeholder === undefined ? [open] : [open, killWindow(placeholder)];
  }

  function split(
    state: PlaceState,
    target: TeamWindow,
    placement: Placement,
    argv: readonly string[],
  ): TmuxCommand[] {
    const borrows =
      state.borrowed?.window === target.window && !isBorrowed(target.window) ? state.borrowed : undefined;
    return [
      ...(borrows === undefined ? [] : [rememberBorder(target.window, borrows.border)]),
      ...splitWindow(target.window, placement, target.lead, argv),
    ];
  }

  function isBorrowed(window: string): boolean {
    return known?.some((row) => row.window === window && row.restore !== "") ?? false;
  }

  function remember(row: PaneRow): void {
    const others = known?.filter((other) => other.pane !== row.pane && other.tag !== placeholderTag) ?? [];
    known = [...others, { ...row, owner }];
    // Somebody else opened or closed panes meanwhile.
    if (known.filter((other) => other.window === row.window).length !== row.panes) known = undefined;
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
    const rows = rowsOf(answer);
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
    open: (argv, placement, signal) => inTurn(() => open(argv, placement), signal),
    close: (ref) => inTurn(() => close(ref)),
    list,
  };
}
