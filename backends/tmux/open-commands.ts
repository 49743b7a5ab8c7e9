import type { Placement } from "../types.js";
import type { TmuxCommand } from "./client.js";
import {
  arrange,
  killWindow,
  lastPane,
  lastWindow,
  newWindow,
  rememberBorder,
  rememberZoom,
  splitWindow,
  zoomAgain,
} from "./commands.js";
import { labelNewPane, listLabels, type PaneLabel } from "./label.js";
import type { TeamWindow } from "./layout.js";

/** A pane that somebody wants. Its command line gets the label's tag as its last word, by which the new pane is known. */
export interface PaneRequest {
  readonly argv: readonly string[];
  readonly label: PaneLabel;
  readonly placement: Placement;
}

/**
 * What one call of tmux opens, and how many of the requests that is. Each pane that it makes prints its row, in their order,
 * and at its end {@link listLabels} tells of them all.
 */
export interface OpenCall {
  readonly commands: readonly TmuxCommand[];
  readonly count: number;
}

/**
 * Splits a window for as many of the requests as `room` and one call take, at least one, each time with the window arranged
 * anew; a window in which a pane was zoomed is so again afterwards. `border` is what the window's border was where it is a
 * user's that was not changed yet.
 */
export function openInWindow(
  session: string,
  target: TeamWindow,
  requests: readonly PaneRequest[],
  room: number,
  border?: string,
): OpenCall {
  const { window, lead } = target;
  const before = [...(border === undefined ? [] : [rememberBorder(window, border)]), rememberZoom(window)];
  const panes = requests
    .slice(0, room)
    .map(({ argv, label, placement }) => [
      splitWindow(window, placement, [...argv, label.tag]),
      labelNewPane(lastPane(window), label),
      ...arrange(window, placement, lead),
    ]);
  return fitting(before, panes, [...zoomAgain(window), listLabels(session)]);
}

/**
 * A new window for the first request; for several, as far as one call takes them, where each has a window of its own. The
 * window `placeholder`, if there is one, is closed.
 */
export function openWindows(
  session: string,
  name: string,
  requests: readonly PaneRequest[],
  placeholder?: string,
): OpenCall {
  const apart = requests.every(({ placement }) => placement.layout === "windows");
  const panes = requests
    .slice(0, apart ? requests.length : 1)
    .map(({ argv, label }) => [
      newWindow(session, name, [...argv, label.tag]),
      labelNewPane(lastWindow(session), label),
    ]);
  const after = placeholder === undefined ? [] : [killWindow(placeholder)];
  return fitting([], panes, [...after, listLabels(session)]);
}

/** How many bytes of commands go into one call; tmux takes 16 KB with what it adds to each. */
const maxBytes = 13_000;

function fitting(
  before: readonly TmuxCommand[],
  panes: readonly (readonly TmuxCommand[])[],
  after: readonly TmuxCommand[],
): OpenCall {
  let bytes = sizeOf([...before, ...after]);
  let count = 0;
  for (const commands of panes) {
    bytes += sizeOf(commands);
    if (count > 0 && bytes > maxBytes) break;
    count++;
  }
  return { commands: [...before, ...panes.slice(0, count).flat(), ...after], count };
}

function sizeOf(commands: readonly TmuxCommand[]): number {
  // Every word ends with a NUL, every command with a `;`.
  return commands.flat().reduce((sum, word) => sum + Buffer.byteLength(word) + 1, commands.length * 2);
}
