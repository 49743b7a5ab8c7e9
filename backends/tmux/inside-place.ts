import { TroupeError } from "../../src/util/errors.js";
import { liveness, sameProcess } from "../../src/util/process-identity.js";
import { createTmuxClient } from "./client.js";
import { listAllPanes, listPane, type PaneRow, parseRows, showWindowOption } from "./commands.js";
import { type PlaceState, type SeenPlace, serverIdentity, type TmuxPlace, tmuxError } from "./place.js";

export interface InsideOptions {
  readonly program: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's server and the pane that we were called from, as `TMUX` and `TMUX_PANE` tell. */
  readonly socket: string;
  /** The pid of that server: a later one on the same socket gives the same ids to other panes. */
  readonly serverPid?: number;
  /** Without one, panes can be looked after and closed but not opened. */
  readonly pane?: string;
}

/** The server and the caller's pane out of an environment; undefined outside of tmux. */
export function tmuxAround(
  env: Readonly<Record<string, string | undefined>>,
): { readonly socket: string; readonly serverPid: number; readonly pane: string } | undefined {
  const [, socket, serverPid] = /^(.+),(\d+),\d+$/.exec(env["TMUX"] ?? "") ?? [];
  const pane = env["TMUX_PANE"];
  if (socket === undefined || pane === undefined || !/^%\d+$/.test(pane)) return undefined;
  return { socket, serverPid: Number(serverPid), pane };
}

/** Whether the server that gave this row is the one that the caller was called from, as far as that is known. */
export function isCallersServer({ serverPid }: { readonly serverPid?: number }, row: PaneRow): boolean {
  return serverPid === undefined || serverPid === row.serverPid;
}

/**
 * The session in which the caller's pane is, on the user's own server. Nothing global is changed there. If the
 * caller's pane is closed later, panes are still opened in the session that it was in.
 */
export function openInsidePlace(options: InsideOptions): TmuxPlace {
  const client = createTmuxClient(options);
  let state: PlaceState | undefined;
  let fresh = false;

  async function look(): Promise<SeenPlace> {
    const { pane } = options;
    if (pane === undefined) throw noPane("no pane of yours to open others beside");
    const border = showWindowOption(pane, "pane-border-status");
    const answer = await client.run([listPane(pane), border, listAllPanes()]);
    if (!answer.ok) {
      if (answer.failure === "no-target" && state !== undefined)
        return { server: state.server, session: state.session, lead: undefined };
      throw tmuxError(client, answer);
    }
    const [row, ...rows] = parseRows(answer.stdout);
    if (row === undefined) throw noPane(`no pane ${pane}`);
    const server = serverIdentity(client, row.serverPid);
    if (!isCallersServer(options, row) || (state !== undefined && !sameProcess(state.server, server)))
      throw otherServer(row.serverPid);
    const [, told = ""] = answer.stdout.split("\n");
    // An option that is not set prints nothing.
    const own = parseRows(told).length > 0 ? "" : told.trim();
    return {
      server,
      session: row.session,
      lead: pane,
      borrowed: { window: row.window, border: row.restore === "" ? own : row.restore },
      rows,
    };
  }

  function noPane(what: string): TroupeError {
    return new TroupeError("tmux-no-target", `there is ${what} on the tmux server ${client.socket}`, {
      kind: "unavailable",
      remedy: "run the command in a pane of that server",
    });
  }

  function otherServer(pid: number): TroupeError {
    const what = `the tmux server on ${client.socket} was started anew (pid ${pid}): your pane ended with the one before`;
    return new TroupeError("tmux-other-server", what, {
      kind: "unavailable",
      remedy: "end the team (troupe down) and start it in a pane of the new server",
    });
  }

  return {
    client,
    lead: () => state?.lead ?? options.pane,
    async ready() {
      if (state !== undefined && fresh && liveness(state.server) !== "gone") return state;
      const { rows, ...seen } = await look();
      state = seen;
      fresh = true;
      return rows === undefined ? state : { ...state, rows };
    },
    forget: () => {
      fresh = false;
    },
  };
}
