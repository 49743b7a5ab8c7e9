import type { Placement } from "../types.js";
import type { TermSession, TermTab } from "./transport.js";

/** Fewest rows and columns of a pane that can still be read. */
const minRows = 4;
const minColumns = 20;

/** A cell is about twice as high as wide: a pane that is wider than this many times its height is divided by a vertical line. */
const wide = 2.2;

/** Where the next pane goes: beside or below a session. */
export interface Division {
  readonly tab: TermTab;
  readonly session: string;
  readonly vertical: boolean;
}

/**
 * The pane to divide for one more, or undefined: a tab of its own has to be opened. Only tabs are divided in which there is
 * nothing but sessions of ours and the lead's own; a tab with any other in it is the user's and left as it is, and so is one in which
 * a pane is maximized. `full` are tabs that iTerm2 has refused to divide.
 */
export function nextDivision(
  tabs: readonly TermTab[],
  isOurs: (session: string) => boolean,
  lead: string | undefined,
  { layout, maxPanesPerWindow }: Placement,
  full: ReadonlySet<string>,
): Division | undefined {
  if (layout === "windows") return undefined;
  for (const tab of tabs) {
    const { sessions, zoomed } = tab;
    const isTeams = sessions.every(({ session }) => session === lead || isOurs(session));
    const hasTeammate = sessions.some(({ session }) => isOurs(session));
    const isFull = full.has(tab.tab) || sessions.length >= Math.max(1, maxPanesPerWindow);
    if (sessions.length === 0 || !isTeams || isFull || zoomed) continue;
    // The lead's pane is divided once, for the first; beside it the others share.
    const keepsLead = layout === "main-vertical" && hasTeammate;
    const candidates = sessions.filter(({ session }) => !(keepsLead && session === lead));
    for (const candidate of [...candidates].sort((a, b) => areaOf(b) - areaOf(a))) {
      const vertical = waysOf(candidate, layout, candidate.session === lead).find((way) =>
        fits(candidate, way),
      );
      if (vertical !== undefined) return { tab, session: candidate.session, vertical };
    }
  }
  return undefined;
}

/** Whether to divide by a vertical line: what is wanted first, then what would do. */
function waysOf(
  { width, height }: TermSession,
  layout: Placement["layout"],
  isLead: boolean,
): readonly boolean[] {
  if (layout === "even-horizontal" || (layout === "main-vertical" && isLead)) return [true];
  if (layout === "even-vertical") return [false];
  return width > wide * height ? [true, false] : [false, true];
}

function fits({ width, height }: TermSession, vertical: boolean): boolean {
  const half = Math.floor(((vertical ? width : height) - 1) / 2);
  return half >= (vertical ? minColumns : minRows);
}

function areaOf({ width, height }: TermSession): number {
  return width * height;
}
