import { randomUUID } from "node:crypto";
import { type Profile, type Session, type SessionOptions, startSession } from "./session.js";
import { type Area, createTabTree, type TabTree } from "./tree.js";

export interface Tab {
  readonly id: number;
  readonly tree: TabTree<Session>;
  /** The session that gets what a person types while this tab is shown. */
  active: Session;
  /** The session that a person has maximized; the others are behind it. */
  zoomed?: Session | undefined;
}

export interface Window {
  readonly id: string;
  readonly number: number;
  readonly tabs: Tab[];
  shown: Tab;
}

/** What happens, for those who have asked to be told. */
export type AppEvent =
  | { readonly kind: "new" | "end"; readonly session: string }
  | { readonly kind: "layout" };

/** The windows of the terminal emulator and what can be done with them, by the API or by a person. */
export interface App {
  readonly windows: Window[];
  find(id: string): { readonly session: Session; readonly tab: Tab; readonly window: Window } | undefined;
  split(
    target: string,
    vertical: boolean,
    before: boolean,
    profile: Profile,
  ): Promise<Session | "gone" | "no-space">;
  openTab(options: {
    readonly window?: Window;
    readonly index?: number;
    readonly select: boolean;
    readonly profile: Profile;
  }): Promise<{ readonly session: Session; readonly tab: Tab; readonly window: Window }>;
  /** Takes a session out of its window at once; its terminal goes when the time to undo that is over. False: not there. */
  close(id: string): boolean;
  /** Ends every session, those that are on their way out, too. */
  quit(): void;
}

export interface AppOptions extends Pick<SessionOptions, "shell" | "home"> {
  readonly area: Area;
  /** The default profile. */
  readonly profile: Profile;
  readonly env: (place: { window: number; tab: number; id: string }) => SessionOptions["env"];
  readonly tell: (event: AppEvent) => void;
}

export function createApp({ area, env, tell, ...options }: AppOptions): App {
  const windows: Window[] = [];
  const leaving = new Map<Session, NodeJS.Timeout>();
  let lastTab = 0;
  let lastWindow = -1;

  const find: App["find"] = (id) => {
    for (const window of windows)
      for (const tab of window.tabs)
        for (const session of tab.tree.leaves()) if (session.id === id) return { session, tab, window };
    return undefined;
  };

  async function start(
    profile: Profile,
    place: { window: number; tab: number },
    size: Area,
  ): Promise<Session> {
    const id = randomUUID().toUpperCase();
    const session: Session = await startSession({
      ...options,
      id,
      profile: { ...options.profile, ...profile },
      area: size,
      env: env({ ...place, id }),
      onEnd: () => ended(session),
    });
    return session;
  }

  /** The terminal is gone: told at once, and the pane stays only where the profile says so. */
  function ended(session: Session): void {
    clearTimeout(leaving.get(session));
    leaving.delete(session);
    tell({ kind: "end", session: session.id });
    if (Number(session.profile["Close Sessions On End"] ?? 1) !== 0) takeOut(session.id);
  }

  function takeOut(id: string): Session | undefined {
    const found = find(id);
    if (found === undefined) return undefined;
    const { session, tab, window } = found;
    tab.tree.remove(session);
    tab.zoomed = undefined;
    const [next] = tab.tree.leaves();
    if (next === undefined) {
      window.tabs.splice(window.tabs.indexOf(tab), 1);
      const [other] = window.tabs;
      if (other === undefined) windows.splice(windows.indexOf(window), 1);
      else if (window.shown === tab) window.shown = other;
    } else if (tab.active === session) tab.active = next;
    tell({ kind: "layout" });
    return session;
  }

  return {
    windows,
    find,
    async split(target, vertical, before, profile) {
      const found = find(target);
      if (found === undefined || found.session.hasEnded()) return "gone";
      const { tab, window, session: whole } = found;
      if (!tab.tree.canSplit(whole, vertical)) return "no-space";
      const place = { window: window.number, tab: window.tabs.indexOf(tab) };
      const session = await start(profile, place, tab.tree.areaOf(whole));
      if (find(target) === undefined || !tab.tree.canSplit(whole, vertical)) {
        session.hangUp();
        return "gone";
      }
      tab.tree.split(whole, vertical, before, session);
      tab.active = session;
      tab.zoomed = undefined;
      tell({ kind: "new", session: session.id });
      tell({ kind: "layout" });
      return session;
    },
    async openTab({ window: known, index, select, profile }) {
      const window = known ?? { id: `pty-${randomUUID().toUpperCase()}`, number: ++lastWindow, tabs: [] };
      const session = await start(profile, { window: window.number, tab: window.tabs.length }, area);
      const resized = (leaf: Session, size: Area): void => leaf.resize(size);
      const tab: Tab = { id: ++lastTab, tree: createTabTree(session, area, resized), active: session };
      window.tabs.splice(index ?? window.tabs.length, 0, tab);
      const opened: Window = "shown" in window ? window : Object.assign(window, { shown: tab });
      if (select) opened.shown = tab;
      if (known === undefined) windows.push(opened);
      tell({ kind: "new", session: session.id });
      tell({ kind: "layout" });
      return { session, tab, window: opened };
    },
    close(id) {
      const session = takeOut(id);
      if (session === undefined) return false;
      if (session.hasEnded()) return true;
      session.pause();
      const seconds = Number(session.profile["Session Close Undo Timeout"] ?? 5);
      leaving.set(
        session,
        setTimeout(() => session.hangUp(), seconds * 1000),
      );
      return true;
    },
    quit() {
      const all = [
        ...windows.flatMap(({ tabs }) => tabs.flatMap(({ tree }) => tree.leaves())),
        ...leaving.keys(),
      ];
      for (const timer of leaving.values()) clearTimeout(timer);
      leaving.clear();
      windows.length = 0;
      for (const session of all) session.hangUp();
    },
  };
}
