import { TroupeError } from "../../src/util/errors.js";
import type { ProcessIdentity } from "../../src/util/process-identity.js";
import type { Placement } from "../types.js";
import type { TmuxAnswer, TmuxFailure } from "./client.js";
import { killPaneIf, type PaneRow, parseRows, placeholderTag, zoomAgain } from "./commands.js";
import type { Waiting } from "./gather.js";
import type { KnownPanes } from "./known-panes.js";
import { isLabelled, labelPane } from "./label.js";
import { roomFor, type TeamWindow, teamWindows, windowWithRoom } from "./layout.js";
import { type OpenCall, openInWindow, openWindows, type PaneRequest } from "./open-commands.js";
import { type PlaceState, type TmuxPlace, tmuxError } from "./place.js";

/** A pane that was opened, and the life of the server on which it is. */
export interface OpenedPane {
  readonly row: PaneRow;
  readonly server: ProcessIdentity;
}

type Asked = Waiting<PaneRequest, OpenedPane>;

/** What a turn knows of the place: as it was seen, with what was opened since. */
interface View {
  readonly state: PlaceState;
  readonly rows: readonly PaneRow[];
}

export interface OpenPanesOptions {
  readonly place: TmuxPlace;
  readonly known: KnownPanes;
  readonly owner: string;
  readonly windowName: string;
}

/** How long a server has to open panes: what it does later with a call that was given up is found only at the next look. */
const openMs = 5000;

/** How often it is tried anew where the server or a window has gone away meanwhile. */
const tries = 3;

/**
 * Opens panes, as many with one call as it takes. A turn begins with a look: a person may have changed windows since the last
 * one. Throws what keeps those from being opened that have no answer yet.
 */
export function createOpenPanes({ place, known, owner, windowName }: OpenPanesOptions) {
  const { client } = place;

  async function openPanes(all: readonly Asked[]): Promise<void> {
    const full = new Set<string>();
    let failures = 0;
    let view: View | undefined;
    for (let waiting = all; waiting.length > 0; ) {
      view ??= await look();
      const { state } = view;
      const requests = alike(waiting.map(({ item }) => item));
      const placement = requests[0]?.placement;
      if (placement === undefined) return;
      known.placement = placement;
      const target = windowWithRoom(teamWindows(view.rows, owner, state.lead), placement, full);
      const { commands, count } = callFor(view, target, placement, requests);
      const answer = await client.run(commands, openMs);
      const asked = waiting.slice(0, count);
      const rows = await rowsOfOurs(state, answer, count);
      view = withOpened(view, rows, asked);
      await answerOpened(state, answer, rows, asked);
      const missed = requests.slice(rows.length, count);
      waiting = waiting.slice(rows.length);
      if (answer.ok && missed.length === 0) continue;
      view = undefined;
      failures = rows.length > 0 ? 1 : failures + 1;
      if (!answer.ok && answer.failure === "timeout") known.doubt(missed.map(({ label }) => label.tag));
      // What the call was to do last.
      if (!answer.ok && target !== undefined) await client.run(zoomAgain(target.window));
      if (!answer.ok && answer.failure === "no-space" && target !== undefined) full.add(target.window);
      else if (failures >= tries || (!answer.ok && !passing.includes(answer.failure)))
        throw answer.ok ? noPane() : tmuxError(client, answer);
    }
  }

  async function look(): Promise<View> {
    place.forget();
    const { rows, ...state } = await place.ready();
    return { state, rows: await known.closeDoubtful(rows ?? (await known.list())) };
  }

  function callFor(
    { state: { session, borrowed }, rows }: View,
    target: TeamWindow | undefined,
    placement: Placement,
    requests: readonly PaneRequest[],
  ): OpenCall {
    if (target === undefined) {
      const placeholder = rows.find((row) => row.owner === owner && row.tag === placeholderTag)?.window;
      return openWindows(session, windowName, requests, placeholder);
    }
    const { window } = target;
    const changed = rows.some((row) => row.window === window && row.restore !== "");
    const border = borrowed?.window === window && !changed ? borrowed.border : undefined;
    return openInWindow(session, target, requests, roomFor(target, placement), border);
  }

  /** The panes that a call has opened, in the order of the requests. */
  async function rowsOfOurs(
    { server }: PlaceState,
    answer: TmuxAnswer,
    count: number,
  ): Promise<readonly PaneRow[]> {
    const rows = parseRows(answer.stdout).slice(0, count);
    if (rows.every((row) => row.serverPid === server.pid)) return rows;
    // Another server took the socket between the look and the call: nothing of it is ours but these panes.
    await client.run(rows.map((row) => killPaneIf(row.pane, row.serverPid, undefined)));
    return [];
  }

  function withOpened(view: View, opened: readonly PaneRow[], asked: readonly Asked[]): View {
    const ours = opened.map((row, index) => ({ ...row, owner, tag: asked[index]?.item.label.tag ?? "" }));
    const others = view.rows.filter((row) => row.tag !== placeholderTag);
    return { ...view, rows: [...others, ...ours] };
  }

  async function answerOpened(
    { server }: PlaceState,
    answer: TmuxAnswer,
    rows: readonly PaneRow[],
    asked: readonly Asked[],
  ): Promise<void> {
    for (const [index, row] of rows.entries()) {
      const request = asked[index];
      if (request === undefined) continue;
      const { label } = request.item;
      const labelled = isLabelled(answer.stdout, row.pane, label.tag)
        ? answer
        : await client.run(labelPane(row.pane, label));
      if (labelled.ok || labelled === answer) request.done({ row, server });
      else {
        // Nobody would find it again.
        await client.run([killPaneIf(row.pane, server.pid, undefined)]);
        request.failed(tmuxError(client, labelled));
      }
    }
  }

  function noPane(): TroupeError {
    return new TroupeError("tmux-other", `tmux (${client.socket}) told no new pane of ours`);
  }

  return openPanes;
}

/** Failures that another look may mend. */
const passing: readonly TmuxFailure[] = ["no-target", "no-server", "crashed"];

/** The first requests, as many as go to the same kind of place. */
function alike(requests: readonly PaneRequest[]): readonly PaneRequest[] {
  const wanted = JSON.stringify(requests[0]?.placement);
  const other = requests.findIndex(({ placement }) => JSON.stringify(placement) !== wanted);
  return other < 0 ? requests : requests.slice(0, other);
}
