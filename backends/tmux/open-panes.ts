import { TroupeError } from "../../src/util/errors.js";
import type { ProcessIdentity } from "../../src/util/process-identity.js";
import type { Placement } from "../types.js";
import type { TmuxAnswer, TmuxFailure } from "./client.js";
import { forgetZoom, killPaneIf, type PaneRow, parseRows, placeholderTag } from "./commands.js";
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

/** Opens panes, as many with one call as it takes. Throws what keeps those from being opened that have no answer yet. */
export function createOpenPanes({ place, known, owner, windowName }: OpenPanesOptions) {
  const { client } = place;

  async function openPanes(all: readonly Waiting<PaneRequest, OpenedPane>[]): Promise<void> {
    const full = new Set<string>();
    let failures = 0;
    for (let waiting = all; waiting.length > 0; ) {
      const state = await place.ready();
      const rows = await known.of(state.server, state.rows);
      const requests = alike(waiting.map(({ item }) => item));
      const placement = requests[0]?.placement;
      if (placement === undefined) return;
      known.placement = placement;
      const target = windowWithRoom(teamWindows(rows, owner, state.lead), placement, full);
      const { commands, count } = callFor(state, rows, target, placement, requests);
      const answer = await client.run(commands, openMs);
      const opened = await answerOpened(state, answer, waiting.slice(0, count));
      const missed = requests.slice(opened, count);
      waiting = waiting.slice(opened);
      if (answer.ok && missed.length === 0) continue;
      forget();
      failures = opened > 0 ? 1 : failures + 1;
      if (!answer.ok && answer.failure === "timeout") known.doubt(missed.map(({ label }) => label.tag));
      if (!answer.ok && answer.failure === "no-space" && target !== undefined) {
        full.add(target.window);
        await client.run([forgetZoom(target.window)]);
      } else if (failures >= tries || (!answer.ok && !passing.includes(answer.failure)))
        throw answer.ok ? noPane() : tmuxError(client, answer);
    }
  }

  function callFor(
    state: PlaceState,
    rows: readonly PaneRow[],
    target: TeamWindow | undefined,
    placement: Placement,
    requests: readonly PaneRequest[],
  ): OpenCall {
    const { session, borrowed } = state;
    if (target === undefined) {
      const placeholder = rows.find((row) => row.owner === owner && row.tag === placeholderTag)?.window;
      return openWindows(session, windowName, requests, placeholder);
    }
    const { window } = target;
    const changed = rows.some((row) => row.window === window && row.restore !== "");
    const border = borrowed?.window === window && !changed ? borrowed.border : undefined;
    return openInWindow(session, target, requests, roomFor(target, placement), border);
  }

  /** Answers those whose pane is there, and gives how many they are. */
  async function answerOpened(
    { server }: PlaceState,
    answer: TmuxAnswer,
    asked: readonly Waiting<PaneRequest, OpenedPane>[],
  ): Promise<number> {
    const rows = parseRows(answer.stdout).slice(0, asked.length);
    if (rows.some((row) => row.serverPid !== server.pid)) {
      // Another server took the socket between the look and the call: nothing of it is ours but these panes.
      await client.run(rows.map((row) => killPaneIf(row.pane, row.serverPid, undefined)));
      return 0;
    }
    known.add(
      rows,
      asked.map(({ item }) => item.label.tag),
    );
    for (const [index, row] of rows.entries()) {
      const request = asked[index];
      if (request === undefined) break;
      const { label } = request.item;
      if (!isLabelled(answer.stdout, row.pane, label.tag)) await client.run(labelPane(row.pane, label));
      request.done({ row, server });
    }
    return rows.length;
  }

  function forget(): void {
    known.forget();
    place.forget();
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
