import { TroupeError } from "../../src/util/errors.js";
import { identityOf, type ProcessIdentity } from "../../src/util/process-identity.js";
import { installCommand } from "../install-command.js";
import type { TmuxAnswer, TmuxClient, TmuxFailure } from "./client.js";
import type { PaneRow } from "./commands.js";

/** Where panes are opened: inside a user's server, or on a server of our own. */
export interface TmuxPlace {
  readonly client: TmuxClient;
  /**
   * What there is now; starts a server of our own. The answer may be kept until {@link forget}. Throws TroupeError.
   */
  ready(): Promise<SeenPlace>;
  /** Looks anew at the next {@link ready}. */
  forget(): void;
  /** The pane of the lead's view as far as it is known; starts nothing. */
  lead(): string | undefined;
  /** The argument vector that attaches a terminal; only where the server is our own. */
  attachArgv?(): string[];
  /** Told what panes are left after one was closed: a server of our own that went with its last takes its socket along. */
  closed?(rows: readonly PaneRow[]): void;
  /** Ends a server of our own, unless a teammate runs in it or the user opened a pane there; true if there is none now. */
  close?(): Promise<boolean>;
}

export interface PlaceState {
  readonly server: ProcessIdentity;
  /** The id of the session in which windows are opened. */
  readonly session: string;
  /** The pane of the lead's view. */
  readonly lead: string | undefined;
  /** The lead's window if it is a user's, with its own `pane-border-status` (empty: none of its own). */
  readonly borrowed?: { readonly window: string; readonly border: string };
}

/** A place with all panes there that can matter for where to open one, if they were looked at just now. */
export interface SeenPlace extends PlaceState {
  readonly rows?: readonly PaneRow[];
}

/** A failed call as an error that names the server. */
export function tmuxError(client: TmuxClient, answer: Extract<TmuxAnswer, { ok: false }>): TroupeError {
  const remedy = tmuxRemedy(answer.failure, client.socket);
  return new TroupeError(`tmux-${answer.failure}`, `tmux (${client.socket}): ${answer.message}`, {
    kind: answer.failure === "missing" || answer.failure === "refused" ? "unavailable" : "failed",
    ...(remedy === undefined ? {} : { remedy }),
  });
}

/** What a person can do about a failed call. */
export function tmuxRemedy(failure: TmuxFailure, socket: string): string | undefined {
  switch (failure) {
    case "missing":
      return installCommand("tmux");
    case "timeout":
      return `see which process it is and whether it is stopped: lsof ${socket}; wake it with kill -CONT PID, or end it with kill -KILL PID`;
    case "refused":
      return `see whose it is: ls -l ${socket}; it has to be yours, with write permission`;
    case "no-space":
      return "enlarge the terminal, or open a window for each: layout: windows in the team file";
    default:
      return undefined;
  }
}

/** Who the process behind a server is. Throws TroupeError where it cannot be looked at from here. */
export function serverIdentity(client: TmuxClient, pid: number): ProcessIdentity {
  const identity = identityOf(pid);
  if (identity !== undefined) return identity;
  throw new TroupeError(
    "tmux-out-of-reach",
    `the tmux server on ${client.socket} (pid ${pid}) does not run on this side of a container`,
    { kind: "unavailable", remedy: "start troupe where the tmux server runs, or use --backend in-process" },
  );
}
