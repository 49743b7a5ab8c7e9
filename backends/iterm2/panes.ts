import { errnoOf, TroupeError } from "../../src/util/errors.js";
import { withLock } from "../../src/util/lock.js";
import { createTurns } from "../turns.js";
import type { Placement } from "../types.js";
import { nextDivision } from "./layout.js";
import type { Iterm2Transport, OpenAnswer, Profile, TermTab } from "./transport.js";

/** A pane that somebody wants. */
export interface PaneRequest {
  /** One life of one teammate; 16 hex digits. */
  readonly tag: string;
  readonly agentId: string;
  /** What the new session starts with, and what it gets once it is marked as ours. */
  readonly profile: Profile;
  readonly look: Profile;
  readonly placement: Placement;
}

/** Opens and closes a team's panes in one iTerm2, in turn, also between processes. */
export interface Panes {
  /**
   * Opens a marked pane in a tab with room or in a new one, and leaves the focus where it was. Gives the id of its session.
   * Throws TroupeError, code `iterm2-…`, or the signal's reason while it waits for its turn; once that has come, the signal
   * does not stop it.
   */
  open(request: PaneRequest, signal?: AbortSignal): Promise<string>;
  /** Closes a pane; does nothing for one that is gone or is not marked as this one. Throws TroupeError. */
  close(session: string, tag: string): Promise<void>;
  /** Whether the pane is there, marked as this one. */
  has(session: string, tag: string): Promise<boolean>;
  /** Closes what was opened by requests whose answer never came. Throws TroupeError. */
  tidy(): Promise<void>;
}

export interface PanesOptions {
  readonly transport: Iterm2Transport;
  /** The session that the team was started in, where that is known. */
  readonly lead: string | undefined;
  /** What tells the team from every other on the machine. */
  readonly owner: string;
  /** Directory of the lock that every process of ours takes which opens panes here. */
  readonly lockDir: string;
}

const ownerVariable = "user.troupe_owner";
const tagVariable = "user.troupe_tag";
const agentVariable = "user.troupe_agent";

const lockMs = 20_000;

/** How often a place is looked for: a person may close panes all the while. */
const attempts = 20;

export function createPanes({ transport, lead, owner, lockDir }: PanesOptions): Panes {
  const inTurn = createTurns();
  /** Who has marked a session. Ids are never given to another one. */
  const owners = new Map<string, unknown>();
  /** Tags of panes that were asked for in a request that was not answered. */
  const doubtful = new Set<string>();

  async function openOne(request: PaneRequest): Promise<string> {
    const session = await place(request);
    owners.set(session, owner);
    const { tag, agentId } = request;
    await transport.setVariables(session, {
      [ownerVariable]: owner,
      [tagVariable]: tag,
      [agentVariable]: agentId,
    });
    // Until here it is known by its name alone.
    await transport.setProfile(session, request.look);
    doubtful.delete(tag);
    return session;
  }

  async function place(request: PaneRequest): Promise<string> {
    const { tag, placement } = request;
    const profile = { ...request.profile, Name: nameOf(tag) };
    const full = new Set<string>();
    for (let attempt = 0; attempt < attempts; attempt++) {
      const tabs = await look();
      const division = nextDivision(tabs, isOurs, lead, placement, full);
      const focus = division && (await focusIn(division.tab));
      doubtful.add(tag);
      const opening =
        division === undefined
          ? transport.openTab({ ...placeForTab(tabs, attempt > 0), profile })
          : transport.split({ ...division, profile });
      const answer = await opening.catch((error: unknown) => findDoubtful(tag, error));
      if (focus !== undefined) await transport.activate(focus, false);
      if (answer.ok) return answer.session;
      doubtful.delete(tag);
      if (answer.why === "no-space" && division !== undefined) full.add(division.tab.tab);
    }
    throw new TroupeError("iterm2-no-space", "iTerm2 gives no room for one more pane", {
      remedy: "enlarge the window, or open a tab for each: layout: windows in the team file",
    });
  }

  /** After a connection that ended: the pane, if it was opened all the same. */
  async function findDoubtful(tag: string, error: unknown): Promise<OpenAnswer> {
    if (errnoOf(error) !== "iterm2-dropped") throw error;
    const [session] = sessionsNamed(await transport.list(), tag);
    if (session === undefined) throw error;
    return { ok: true, session };
  }

  /** What there is now, and whose it is; what nobody waits for any more is closed. */
  async function look(): Promise<readonly TermTab[]> {
    const tabs = await transport.list();
    const late = Array.from(doubtful, (tag) => sessionsNamed(tabs, tag)).flat();
    for (const session of late) await transport.close(session);
    const sessions = tabs.flatMap((tab) => tab.sessions.map(({ session }) => session));
    for (const session of owners.keys()) if (!sessions.includes(session)) owners.delete(session);
    await Promise.all(sessions.filter((session) => !owners.has(session)).map(learn));
    return tabs.map((tab) => ({
      ...tab,
      sessions: tab.sessions.filter(({ session }) => !late.includes(session)),
    }));
  }

  async function learn(session: string): Promise<void> {
    const values = await transport.getVariables({ session }, [ownerVariable]);
    if (values !== undefined) owners.set(session, values[0]);
  }

  function isOurs(session: string): boolean {
    return owners.get(session) === owner;
  }

  /** The session of a tab that gets what the person types there. */
  async function focusIn({ tab, sessions }: TermTab): Promise<string | undefined> {
    const [current] = (await transport.getVariables({ tab }, ["currentSession.id"])) ?? [];
    if (typeof current === "string" && sessions.some(({ session }) => session === current)) return current;
    return sessions.find(({ session }) => session === lead)?.session;
  }

  /** Beside the lead's tab and those of the team, else in any window with one of these, else in a window of its own. */
  function placeForTab(tabs: readonly TermTab[], anywhere: boolean): { window?: string; index?: number } {
    const isBeside = ({ sessions }: TermTab): boolean =>
      sessions.some(({ session }) => session === lead || isOurs(session));
    const beside = tabs.filter(isBeside);
    const home = beside.find(({ sessions }) => sessions.some(({ session }) => session === lead)) ?? beside[0];
    if (home === undefined) return {};
    const { window } = home;
    const last = Math.max(...beside.flatMap((tab) => (tab.window === window ? [tab.index] : [])));
    return anywhere ? { window } : { window, index: last + 1 };
  }

  async function has(session: string, tag: string): Promise<boolean> {
    const [found] = (await transport.getVariables({ session }, [tagVariable])) ?? [];
    return found === tag;
  }

  return {
    has,
    open: (request, signal) =>
      inTurn(() => withLock(lockDir, lockMs, () => openOne(request), signal), signal),
    async close(session, tag) {
      const values = await transport.getVariables({ session }, [tagVariable]);
      // A session whose program has ended may stand there and not be found: its id was never anybody else's.
      if (values !== undefined && values[0] !== tag) return;
      if ((await transport.close(session)) !== "declined") return;
      throw new TroupeError("pane-not-closed", `iTerm2 keeps the pane ${session}: closing it was declined`);
    },
    async tidy() {
      if (doubtful.size > 0) await inTurn(async () => void (await look()));
    },
  };
}

/** The name of a session that is not marked yet. */
function nameOf(tag: string): string {
  return `troupe ${tag}`;
}

function sessionsNamed(tabs: readonly TermTab[], tag: string): string[] {
  return tabs.flatMap(({ sessions }) =>
    sessions.flatMap(({ session, title }) => (title.includes(nameOf(tag)) ? [session] : [])),
  );
}
