import { TroupeError } from "../../src/util/errors.js";
import { withLock } from "../../src/util/lock.js";
import { liveness, type ProcessIdentity } from "../../src/util/process-identity.js";
import type { Placement } from "../types.js";
import type { TmuxAnswer, TmuxCommand } from "./client.js";
import {
  arrange,
  killPaneIf,
  killWindow,
  listAllPanes,
  newWindow,
  type PaneRow,
  parseRows,
  rememberBorder,
  restoreBorder,
  splitWindow,
} from "./commands.js";
import { type TeamWindow, teamWindows, windowWithRoom } from "./layout.js";
import { type PlaceState, type TmuxPlace, tmuxError } from "./place.js";

/** A pane on one life of a server. `tag` is absent for a pane that did not get as far as to be tagged. */
export interface PaneRef {
  readonly pane: string;
  readonly server: ProcessIdentity;
  readonly tag?: string;
}

/** Opens and closes a team's panes in one place, one at a time, also between processes. */
export interface Panes {
  /** Opens a pane that runs `argv`, in a window with room or in a new one. Throws TroupeError, code `tmux-…`. */
  open(argv: readonly string[], placement: Placement): Promise<{ row: PaneRow; server: ProcessIdentity }>;
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
  let lastPlacement: Placement | undefined;
  let queue: Promise<unknown> = Promise.resolve();

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = queue.then(() => withLock(lockDir, lockMs, work));
    queue = turn.catch(() => undefined);
    return turn;
  }

  async function open(argv: readonly string[], placement: Placement) {
    lastPlacement = placement;
    const full = new Set<string>();
    for (let attempt = 0; ; attempt++) {
      const state = await place.ready();
      known ??= await list();
      const target = windowWithRoom(teamWindows(known, owner, state.lead), placement, full);
      const answer = await client.run(
        target === undefined ? openWindow(state, argv) : split(state, target, placement, argv),
      );
      const [row] = parseRows(answer.stdout);
      if (row !== undefined) {
        remember(row);
        if (!answer.ok) forget();
        return { row, server: state.server };
      }
      forget();
      if (answer.ok) throw new TroupeError("tmux-other", `tmux (${client.socket}) told no new pane`);
      if (answer.failure === "no-space" && target !== undefined) full.add(target.window);
      else if (attempt >= 2 || !["no-target", "no-server", "crashed"].includes(answer.failure))
        throw tmuxError(client, answer);
    }
  }

  function openWindow(state: PlaceState, argv: readonly string[]): TmuxCommand[] {
    const open = newWindow(state.session, windowName, argv);
    const isWaiting = known?.some((row) => row.window === state.placeholder) ?? false;
    return state.placeholder === undefined || !isWaiting ? [open] : [open, killWindow(state.placeholder)];
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
      splitWindow(target.window, placement, argv, target.zoomed),
      ...(target.zoomed ? [] : arrange(target.window, placement, target.lead)),
    ];
  }

  function isBorrowed(window: string): boolean {
    return known?.some((row) => row.window === window && row.restore !== "") ?? false;
  }

  function remember(row: PaneRow): void {
    const others = known?.filter((other) => other.window !== row.window || other.pane !== row.pane) ?? [];
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

  async function close({ pane, server, tag }: PaneRef): Promise<void> {
    if (liveness(server) === "gone") return;
    const rows = rowsOf(await client.run([killPaneIf(pane, server.pid, tag), listAllPanes()]));
    known = rows;
    const kept = rows.some(
      (row) => row.pane === pane && row.serverPid === server.pid && (row.tag || tag) === tag,
    );
    if (kept) throw new TroupeError("pane-not-closed", `tmux (${client.socket}) keeps the pane ${pane}`);
    await giveBack(rows);
    place.closed?.(rows);
  }

  /** Windows that hold no pane of ours any more get their options back; the others are arranged anew. */
  async function giveBack(rows: readonly PaneRow[]): Promise<void> {
    const windows = new Map(rows.map((row) => [row.window, row]));
    const lead = place.lead();
    const commands = Array.from(windows.values()).flatMap((row): TmuxCommand[] => {
      const isOurs = rows.some((other) => other.window === row.window && other.owner === owner);
      if (row.restore !== "" && !isOurs) return restoreBorder(row.window, row.restore);
      const [window] = teamWindows(
        rows.filter((other) => other.window === row.window),
        owner,
        lead,
      );
      if (!isOurs || window === undefined || window.panes < 2 || window.zoomed || lastPlacement === undefined)
        return [];
      return arrange(window.window, lastPlacement, window.lead);
    });
    if (commands.length === 0) return;
    const answer = await client.run(commands);
    // A window that went away meanwhile needs nothing more.
    if (!answer.ok && !["no-target", "no-server", "crashed"].includes(answer.failure))
      throw tmuxError(client, answer);
    known = undefined;
  }

  return {
    open: (argv, placement) => inTurn(() => open(argv, placement)),
    close: (ref) => inTurn(() => close(ref)),
    list,
  };
}
