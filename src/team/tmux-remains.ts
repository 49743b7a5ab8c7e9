import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { tmuxAround } from "../../backends/tmux/inside-place.js";
import type { Remains, RemainsOptions } from "../../backends/tmux/remains.js";
import { liveness, type ProcessIdentity } from "../util/process-identity.js";
import type { LocatedTeam } from "./locate.js";
import { readMembers } from "./records.js";
import { allOf } from "./steps.js";
import { tmuxProgram } from "./tmux-program.js";

type Env = Readonly<Record<string, string | undefined>>;

/** One lock per terminal server, whoever opens panes on it. `socket` is its socket, or the directory of a server of our own. */
export function tmuxLockDir(home: string, socket: string): string {
  return path.join(home, "locks", `tmux-${createHash("sha256").update(socket).digest("hex").slice(0, 12)}`);
}

/** One thing of a team on a tmux server. `kept`: it stays, a person uses it. */
export interface OnServer {
  readonly kind: "pane" | "server" | "socket";
  readonly what: string;
  readonly kept?: true;
}

/** What a team without a host has on tmux servers. Changes nothing. `skip` is told of a server that does not answer. */
export async function findOnServers(
  team: LocatedTeam,
  env: Env,
  skip: (error: unknown) => void,
): Promise<readonly OnServer[]> {
  const servers = serversOf(team, env);
  if (servers.length === 0) return [];
  const { findRemains } = await import("../../backends/tmux/remains.js");
  const found: OnServer[] = [];
  for (const options of servers) {
    const { socket, ownRunDir } = options;
    let remains: Remains | undefined;
    try {
      remains = await findRemains(options);
    } catch (error) {
      skip(error);
      continue;
    }
    for (const pane of remains?.panes ?? []) found.push({ kind: "pane", what: `${pane} on ${socket}` });
    const server = `tmux ${remains?.server.pid} on ${socket}`;
    if (remains?.serverIsLeft) found.push({ kind: "server", what: server });
    const others = remains?.others ?? [];
    if (others.length > 0)
      found.push({ kind: "server", what: `${server}, with panes of yours: ${others.join(" ")}`, kept: true });
    if (remains === undefined && ownRunDir !== undefined && fs.existsSync(socket))
      found.push({ kind: "socket", what: socket });
  }
  return found;
}

/**
 * Closes what {@link findOnServers} finds. The caller holds the team's lock. Throws what the first server that did not answer
 * threw, after all have been asked.
 */
export async function endOnServers(team: LocatedTeam, env: Env): Promise<void> {
  const servers = serversOf(team, env);
  if (servers.length === 0) return;
  const { endRemains } = await import("../../backends/tmux/remains.js");
  await allOf(servers.map((options) => () => endRemains(options)));
}

/** The locks of the servers on which a team may have panes, as far as those are there. */
export function tmuxLocksOf(team: LocatedTeam, env: Env): readonly string[] {
  return serversOf(team, env).map(({ lockDir }) => lockDir);
}

/** The servers on which a team may have panes: its own, those that its members' records name, the one around the caller. */
function serversOf(team: LocatedTeam, env: Env): RemainsOptions[] {
  const { paths, record } = team;
  if (record.backend.type !== "tmux") return [];
  const own = path.join(paths.sockets, "tmux.sock");
  const known = new Map<string, ProcessIdentity>();
  for (const { ref } of readMembers(paths))
    if (ref?.server !== undefined && liveness(ref.server.process) === "alive")
      known.set(ref.server.socket, ref.server.process);
  const around = tmuxAround(env)?.socket;
  const sockets = new Set([
    ...known.keys(),
    ...(fs.existsSync(own) ? [own] : []),
    ...(around ? [around] : []),
  ]);
  return Array.from(sockets, (socket) => {
    const server = known.get(socket);
    return {
      program: tmuxProgram(env),
      env: { ...env, TROUPE_HOME: paths.home },
      socket,
      ...(socket === own ? { ownRunDir: paths.sockets } : {}),
      ...(server === undefined ? {} : { server }),
      team: record.name,
      teamId: paths.root,
      lockDir: tmuxLockDir(paths.home, socket === own ? paths.sockets : socket),
    };
  });
}
