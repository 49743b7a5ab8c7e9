import fs from "node:fs";
import type { ProcessIdentity } from "../../src/util/process-identity.js";
import { createTmuxClient } from "./client.js";
import { leadTag, listAllPanes, type PaneRow, parseRows, placeholderTag } from "./commands.js";
import { openInsidePlace } from "./inside-place.js";
import { openOwnPlace } from "./own-place.js";
import { ownerOf } from "./owner.js";
import { createPanes } from "./panes.js";
import { serverIdentity, tmuxError } from "./place.js";
import { isHidden, revive } from "./revive.js";

/** A server on which a team whose host is gone may have left something. */
export interface RemainsOptions {
  readonly program: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly socket: string;
  /** The directory of the socket, if the server is the team's own. */
  readonly ownRunDir?: string;
  /** The server as a record knows it, so that it is found without its socket. */
  readonly server?: ProcessIdentity;
  readonly team: string;
  readonly teamId: string;
  readonly lockDir: string;
}

/** What a team has on one server. */
export interface Remains {
  readonly server: ProcessIdentity;
  /** The panes that carry the team's tag. */
  readonly panes: readonly string[];
  /** The server is the team's own, and nobody opened a pane of his own there. */
  readonly serverIsLeft: boolean;
  /** The panes that a person opened on a server of the team's own: they keep it. Empty on a user's server. */
  readonly others: readonly string[];
}

/** What the team has on the server; undefined where no server answers. Changes nothing. Throws TroupeError if one does not answer in time. */
export async function findRemains(options: RemainsOptions): Promise<Remains | undefined> {
  const { socket, server, ownRunDir } = options;
  if (ownRunDir !== undefined && server !== undefined && isHidden(socket, server))
    return { server, panes: [], serverIsLeft: true, others: [] };
  const rows = await listRows(options);
  const [first] = rows;
  if (first === undefined) return undefined;
  const owner = ownerOf(options.teamId);
  const isOurs = (row: PaneRow): boolean => row.owner === owner;
  const others = ownRunDir === undefined ? [] : rows.filter((row) => !row.dead && !isOurs(row));
  return {
    server: serverIdentity(createTmuxClient(options), first.serverPid),
    panes: rows.filter(isOurs).map(({ pane }) => pane),
    serverIsLeft: ownRunDir !== undefined && others.length === 0,
    others: others.map(({ pane }) => pane),
  };
}

/**
 * Closes the team's panes, its view among them, each only while it carries the tag on this very server, and gives windows
 * back; ends a server of its own unless a person opened a pane there. A server whose socket was removed is asked to make it
 * again. Throws TroupeError.
 */
export async function endRemains(options: RemainsOptions): Promise<void> {
  const { program, env, socket, ownRunDir, server, team, lockDir } = options;
  if (ownRunDir !== undefined && server !== undefined && isHidden(socket, server))
    await revive(socket, server);
  const owner = ownerOf(options.teamId);
  const place =
    ownRunDir === undefined
      ? openInsidePlace({ program, env, socket })
      : openOwnPlace({ program, env, runDir: ownRunDir, team, owner });
  const panes = createPanes({ place, owner, windowName: team, lockDir });
  const ours = (await listRows(options)).filter((row) => row.owner === owner);
  const close = async (rows: readonly PaneRow[]): Promise<void> => {
    for (const { serverPid, pane, window, tag } of rows) {
      const identity = serverIdentity(place.client, serverPid);
      await panes.close({ pane, window, server: identity, ...(tag === "" ? {} : { tag }) });
    }
  };
  await close(ours.filter((row) => !isView(row)));
  await place.close?.();
  // A server that stays is a person's from now on.
  if (ours.some(isView)) await close((await listRows(options)).filter((row) => row.owner === owner));
}

/** The team's own view, or what holds its place. */
function isView({ tag }: PaneRow): boolean {
  return tag === leadTag || tag === placeholderTag;
}

async function listRows(options: RemainsOptions): Promise<readonly PaneRow[]> {
  if (!fs.existsSync(options.socket)) return [];
  const client = createTmuxClient(options);
  const answer = await client.run([listAllPanes()]);
  if (answer.ok) return parseRows(answer.stdout);
  if (answer.failure === "no-server" || answer.failure === "crashed") return [];
  throw tmuxError(client, answer);
}
