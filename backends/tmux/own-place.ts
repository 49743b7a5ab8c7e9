import fs from "node:fs";
import path from "node:path";
import { TroupeError } from "../../src/util/errors.js";
import { ensureDir } from "../../src/util/fs.js";
import { liveness } from "../../src/util/process-identity.js";
import { delay, waitUntil } from "../../src/util/wait.js";
import { createTmuxClient } from "./client.js";
import {
  killWindow,
  leadTag,
  listAllPanes,
  newWindow,
  type PaneRow,
  parseRows,
  placeholderTag,
  tagLead,
} from "./commands.js";
import {
  attachSession,
  dropHooks,
  guardOwnServer,
  keepOnly,
  killServer,
  listHooks,
  listSession,
  parseEndingHooks,
  sourceFile,
  startOwnServer,
} from "./own-server-commands.js";
import { type PlaceState, type SeenPlace, serverIdentity, type TmuxPlace, tmuxError } from "./place.js";
import { isHidden, revive } from "./revive.js";

export interface OwnOptions {
  readonly program: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A directory (created 0700) with a short path: the socket is made in it. */
  readonly runDir: string;
  readonly team: string;
  readonly owner: string;
  /** Reads the user's tmux.conf after our defaults; default true. */
  readonly userConfig?: boolean;
  /** The command of the lead's view, in the first pane; it gets the environment of the server. */
  readonly leadArgv?: readonly string[];
  /** Something a person should know, such as an error in the user's tmux.conf. */
  readonly onNote?: (text: string) => void;
}

/** Longest path of a socket: 108 bytes with its end on Linux, 104 elsewhere. */
const maxSocketPath = process.platform === "linux" ? 107 : 103;

/** The name of the session for a team: what is left of its name in `[a-z0-9-]`. */
export function sessionName(team: string): string {
  const plain = team
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return plain.slice(0, 40) || "team";
}

/** A server of our own on `runDir/tmux.sock`, started at the first {@link TmuxPlace.ready}. */
export function openOwnPlace(options: OwnOptions): TmuxPlace {
  const socket = path.join(options.runDir, "tmux.sock");
  const client = createTmuxClient({ program: options.program, socket, env: options.env });
  const session = sessionName(options.team);
  let state: PlaceState | undefined;
  let fresh = false;
  // The person may have left the lead's view since: it is opened once for each life of the server.
  let openedLead = false;

  async function start(): Promise<SeenPlace> {
    if (Buffer.byteLength(socket) > maxSocketPath)
      throw new TroupeError("socket-path-too-long", `the path of the tmux socket is too long: ${socket}`, {
        remedy: "set TROUPE_HOME to a shorter path",
      });
    await ensureDir(options.runDir);
    if (state !== undefined && isHidden(socket, state.server)) await revive(socket, state.server);
    const running = await client.run([listSession(session)]);
    if (running.ok) return await adoptSession(parseRows(running.stdout));
    if (running.failure === "timeout" || running.failure === "missing") throw tmuxError(client, running);
    const trueColour = /^(truecolor|24bit)$/.test(options.env["COLORTERM"] ?? "");
    const starting = startOwnServer(session, options.team, options.owner, trueColour);
    let made = await client.run(starting);
    if (!made.ok && made.failure === "crashed") {
      // An earlier server that is just going away can take the new one's start with it.
      await delay(50);
      made = await client.run(starting);
    }
    if (!made.ok) throw tmuxError(client, made);
    const [row] = parseRows(made.stdout);
    if (row === undefined)
      throw new TroupeError("tmux-other", `tmux (${socket}) told no pane of its new session`);
    if (options.userConfig !== false) await readUserConfig(row);
    const guarded = await client.run(guardOwnServer(session));
    if (!guarded.ok) throw tmuxError(client, guarded);
    const server = serverIdentity(client, row.serverPid);
    openedLead = false;
    return { server, session: row.session, lead: await openLead(row.session, row.window) };
  }

  /** A session that an earlier host left. */
  async function adoptSession(rows: readonly PaneRow[]): Promise<SeenPlace> {
    const [first] = rows;
    if (first === undefined)
      throw new TroupeError("tmux-other", `tmux (${socket}) told no pane of its session`);
    const { session: id } = first;
    const view = rows.find((row) => row.owner === options.owner && row.tag === leadTag)?.pane;
    const server = serverIdentity(client, first.serverPid);
    if (view !== undefined) return { server, session: id, lead: view, rows };
    return { server, session: id, lead: await openLead(id) };
  }

  async function readUserConfig(first: PaneRow): Promise<void> {
    for (const file of configFiles(options.env).filter((name) => fs.existsSync(name))) {
      const read = await client.run([sourceFile(file), ...guardOwnServer(session)]);
      if (!read.ok) options.onNote?.(`${file}: ${read.message}`);
      const listed = await client.run(listHooks(first.session));
      const ending = parseEndingHooks(listed.stdout);
      for (const { name, command } of ending)
        options.onNote?.(`${file}: the hook ${name} is left out here, it would end teammates: ${command}`);
      const kept = await client.run([...dropHooks(ending, first.session), ...keepOnly(first)]);
      if (!kept.ok) throw tmuxError(client, kept);
    }
  }

  async function openLead(id: string, placeholder?: string): Promise<string | undefined> {
    if (options.leadArgv === undefined || openedLead) return undefined;
    openedLead = true;
    const open = newWindow(id, session, options.leadArgv);
    const made = await client.run(placeholder === undefined ? [open] : [open, killWindow(placeholder)]);
    const [row] = parseRows(made.stdout);
    if (row === undefined)
      throw made.ok ? new TroupeError("tmux-other", "no pane for the lead") : tmuxError(client, made);
    const tagged = await client.run(tagLead(row.pane, options.owner, options.team));
    // A view that has ended already takes its pane with it.
    if (!tagged.ok && tagged.failure !== "no-target" && tagged.failure !== "no-server")
      throw tmuxError(client, tagged);
    return row.pane;
  }

  return {
    client,
    async ready() {
      if (state !== undefined && fresh && liveness(state.server) !== "gone") return state;
      const { rows, ...seen } = await start();
      state = seen;
      fresh = true;
      return rows === undefined ? state : { ...state, rows };
    },
    forget: () => {
      fresh = false;
    },
    attachArgv: () => client.argv([attachSession(session)]),
    lead: () => state?.lead,
    closed(rows) {
      if (rows.length === 0) gone();
    },
    async close() {
      if (!fs.existsSync(socket)) return true;
      const rows = await listOwn();
      const [first] = rows;
      if (first === undefined) return gone();
      if (rows.some(isInUse)) return false;
      const server = serverIdentity(client, first.serverPid);
      await client.run([killServer()]);
      const what = `the end of the tmux server on ${socket}`;
      await waitUntil(what, () => liveness(server) === "gone", { timeoutMs: 5000 });
      return gone();
    },
  };

  function gone(): true {
    state = undefined;
    fs.rmSync(socket, { force: true });
    return true;
  }

  async function listOwn(): Promise<PaneRow[]> {
    const answer = await client.run([listAllPanes()]);
    if (answer.ok) return parseRows(answer.stdout);
    if (answer.failure === "no-server" || answer.failure === "crashed") return [];
    throw tmuxError(client, answer);
  }

  /** A pane with a teammate that runs, or one that the user opened. */
  function isInUse({ dead, owner, tag }: PaneRow): boolean {
    return !dead && !(owner === options.owner && (tag === leadTag || tag === placeholderTag));
  }
}

/** Where tmux itself looks for a user's configuration. */
function configFiles(env: Readonly<Record<string, string | undefined>>): string[] {
  const home = env["HOME"];
  if (home === undefined || home === "") return [];
  const xdg = env["XDG_CONFIG_HOME"];
  const config = path.join(home, ".config", "tmux", "tmux.conf");
  const other = xdg === undefined || xdg === "" ? [] : [path.join(xdg, "tmux", "tmux.conf")];
  return Array.from(new Set([path.join(home, ".tmux.conf"), ...other, config]));
}
