import type { Placement } from "../types.js";
import { type PaneRow, placeholderTag } from "./commands.js";

/** Fewest rows and columns of a pane that can still be read, its border included. */
const minRows = 4;
const minColumns = 20;

/** A window in which a teammate's pane may be opened. */
export interface TeamWindow {
  readonly window: string;
  /** How many panes it has. */
  readonly panes: number;
  readonly width: number;
  readonly height: number;
  /** The lead's pane, if it is here. */
  readonly lead: string | undefined;
}

/**
 * The windows in which there is nothing but panes of `owner` and the lead's own: only these are split. A window with
 * any other pane in it is the user's and left as it is.
 */
export function teamWindows(rows: readonly PaneRow[], owner: string, lead: string | undefined): TeamWindow[] {
  const windows = new Map<string, PaneRow[]>();
  for (const row of rows) windows.set(row.window, [...(windows.get(row.window) ?? []), row]);
  return Array.from(windows.values()).flatMap((panes) => {
    const [first] = panes;
    // A window that is linked into several sessions is listed once for each.
    const ids = new Set(panes.map((row) => row.pane));
    const isOurs = (row: PaneRow): boolean =>
      row.pane === lead || (row.owner === owner && row.tag !== placeholderTag);
    if (first === undefined || !panes.every(isOurs)) return [];
    const { window, width, height } = first;
    const here = lead !== undefined && ids.has(lead) ? lead : undefined;
    return [{ window, panes: ids.size, width, height, lead: here }];
  });
}

/** The first window with room for one more pane, or undefined: a window of its own has to be opened. */
export function windowWithRoom(
  windows: readonly TeamWindow[],
  placement: Placement,
  full: ReadonlySet<string>,
): TeamWindow | undefined {
  return windows.find((window) => !full.has(window.window) && roomFor(window, placement) > 0);
}

/** How many more panes a window takes. */
export function roomFor(window: TeamWindow, placement: Placement): number {
  return Math.max(0, capacity(window, placement) - window.panes);
}

/** How many panes a window takes in a layout before they get too small to read, or too many for the setting. */
export function capacity(window: TeamWindow, placement: Placement): number {
  const rows = Math.max(1, Math.floor(window.height / minRows));
  const columns = Math.max(1, Math.floor(window.width / minColumns));
  const most = {
    windows: 1,
    "even-horizontal": columns,
    "even-vertical": rows,
    tiled: rows * columns,
    "main-vertical": window.lead === undefined ? rows * columns : 1 + rows,
  }[placement.layout];
  return Math.min(most, Math.max(1, placement.maxPanesPerWindow));
}
