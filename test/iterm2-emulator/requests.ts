import type { App, Tab, Window } from "./app.js";
import type { Message } from "./schema.js";
import type { Profile, Session } from "./session.js";
import type { Tree } from "./tree.js";

/** What goes wrong on purpose. Changed at any time. */
export interface Faults {
  /** Called before a request is served, by its name; awaited. One for which it gives `ignore` is never served or answered. */
  before?: (request: string) => Reaction | Promise<Reaction>;
  /** The same between what was done and the answer. */
  after?: (request: string) => Reaction | Promise<Reaction>;
  /** Turns every client away with this HTTP status. */
  door?: number;
  /** No pane is divided any more. */
  cannotSplit?: boolean;
  /** The person keeps every pane that is to be closed, also by force. */
  declinesClose?: boolean;
  /** A session whose program has ended is not found by any request. */
  forgetsEnded?: boolean;
}

type Reaction = "ignore" | undefined;

/** Serves every request but those for notifications, each by its name in the envelope. */
export type Handlers = Readonly<Record<string, (request: Message) => Message | Promise<Message>>>;

export function createHandlers(app: App, faults: Faults): Handlers {
  const find = (id: unknown): Session | undefined => {
    const session = app.find(String(id))?.session;
    return session?.hasEnded() && faults.forgetsEnded ? undefined : session;
  };
  return {
    list_sessions: () => layoutOf(app),

    async split_pane({ session, split_direction: direction, before, custom_profile_properties: custom }) {
      const profile = profileOf(custom);
      if (profile === undefined) return { status: "MALFORMED_CUSTOM_PROFILE_PROPERTY" };
      if (faults.cannotSplit && find(session) !== undefined) return { status: "CANNOT_SPLIT" };
      const opened = await app.split(String(session), direction !== "HORIZONTAL", before === true, profile);
      if (opened === "gone") return { status: "SESSION_NOT_FOUND" };
      return opened === "no-space" ? { status: "CANNOT_SPLIT" } : { status: "OK", session_id: [opened.id] };
    },

    async create_tab({
      window_id: windowId,
      tab_index: index,
      select_tab: select,
      custom_profile_properties: custom,
    }) {
      const profile = profileOf(custom) ?? {};
      const window = app.windows.find(({ id }) => id === windowId);
      if (windowId !== undefined && window === undefined) return { status: "INVALID_WINDOW_ID" };
      if (index !== undefined && index > (window?.tabs.length ?? 0)) return { status: "INVALID_TAB_INDEX" };
      const place = {
        ...(window === undefined ? {} : { window }),
        ...(index === undefined ? {} : { index }),
      };
      const opened = await app.openTab({ ...place, select: select !== false, profile });
      return {
        status: "OK",
        window_id: opened.window.id,
        tab_id: opened.tab.id,
        session_id: opened.session.id,
      };
    },

    send_text({ session: id, text }) {
      const session = find(id);
      if (session === undefined || session.hasEnded()) return { status: "SESSION_NOT_FOUND" };
      session.type(String(text ?? ""));
      return { status: "OK" };
    },

    set_profile_property({ session: id, key, json_value: json, assignments }) {
      const session = find(id);
      const profile = profileOf([...(key === undefined ? [] : [{ key, json_value: json }]), ...assignments]);
      if (session === undefined) return { status: "SESSION_NOT_FOUND" };
      if (profile === undefined) return { status: "REQUEST_MALFORMED" };
      session.profile = { ...session.profile, ...profile };
      return { status: "OK" };
    },

    variable(request) {
      if (request.scope === "session_id") {
        const session = find(request.session_id);
        return session === undefined ? { status: "SESSION_NOT_FOUND" } : sessionVariables(session, request);
      }
      if (request.scope === "tab_id") {
        const tab = tabsOf(app).find(({ id }) => String(id) === request.tab_id);
        if (tab === undefined) return { status: "TAB_NOT_FOUND" };
        const values: Record<string, unknown> = { id: tab.id, "currentSession.id": tab.active.id };
        return {
          status: "OK",
          values: request.get.map((name: string) => JSON.stringify(values[name] ?? null)),
        };
      }
      return { status: request.scope === "window_id" ? "WINDOW_NOT_FOUND" : "MISSING_SCOPE" };
    },

    activate(request) {
      const found = activated(app, request);
      if (found === undefined) return { status: "BAD_IDENTIFIER" };
      const { window, tab, session } = found;
      if (tab !== undefined && request.select_tab) window.shown = tab;
      if (tab !== undefined && session !== undefined && request.select_session) tab.active = session;
      if (request.order_window_front)
        app.windows.unshift(...app.windows.splice(app.windows.indexOf(window), 1));
      return { status: "OK" };
    },

    close({ sessions, tabs, windows, force }) {
      const close = (ids: string[], found: (id: string) => Session[]): string[] =>
        ids.map((id) => {
          const all = found(id);
          if (all.length === 0) return "NOT_FOUND";
          const asks = !force && all.some(({ profile }) => profile["Prompt Before Closing 2"] !== 0);
          if (faults.declinesClose || asks) return "USER_DECLINED";
          for (const session of all) app.close(session.id);
          return "OK";
        });
      const inTabs = (all: readonly Tab[]): Session[] => all.flatMap(({ tree }) => tree.leaves());
      if (tabs)
        return {
          statuses: close(tabs.tab_ids, (id) => inTabs(tabsOf(app).filter((tab) => String(tab.id) === id))),
        };
      if (windows)
        return {
          statuses: close(windows.window_ids, (id) =>
            inTabs(app.windows.find((window) => window.id === id)?.tabs ?? []),
          ),
        };
      return {
        statuses: close(sessions?.session_ids ?? [], (id) =>
          [app.find(id)?.session].filter((one) => one !== undefined),
        ),
      };
    },

    get_buffer({ session: id, line_range: range }) {
      const session = find(id);
      if (session === undefined) return { status: "SESSION_NOT_FOUND" };
      const { screen } = session;
      const all = screen.lines();
      const above = screen.above();
      if (!range?.screen_contents_only && range?.trailing_lines === undefined)
        return { status: "REQUEST_MALFORMED" };
      const first = range.screen_contents_only ? above : Math.max(0, all.length - range.trailing_lines);
      const { x, y } = screen.cursor();
      return {
        status: "OK",
        range: { location: first, length: all.length - first },
        contents: all.slice(first).map((text) => ({ text, continuation: "CONTINUATION_HARD_EOL" })),
        cursor: { x, y: above + y },
        num_lines_above_screen: above,
      };
    },
  };
}

/** All windows with their tabs and panes, as the API lists them. */
export function layoutOf(app: App): Message {
  return {
    windows: app.windows.map(({ id, number, tabs }) => ({
      window_id: id,
      number,
      tabs: tabs.map((tab) => {
        const { zoomed } = tab;
        if (zoomed === undefined) return { tab_id: String(tab.id), root: treeOf(tab.tree.root, tab).node };
        const behind = tab.tree.leaves().filter((leaf) => leaf !== zoomed);
        return {
          tab_id: String(tab.id),
          root: { vertical: true, links: [treeOf(zoomed, tab)] },
          minimized_sessions: behind.map((leaf) => treeOf(leaf, tab).session),
        };
      }),
    })),
  };
}

function treeOf(tree: Tree<Session>, tab: Tab): Message {
  if ("children" in tree)
    return { node: { vertical: tree.vertical, links: tree.children.map((child) => treeOf(child, tab)) } };
  return { session: { unique_identifier: tree.id, grid_size: tab.tree.areaOf(tree), title: tree.name() } };
}

function tabsOf(app: App): Tab[] {
  return app.windows.flatMap(({ tabs }) => tabs);
}

/** Undefined where a value is no JSON. */
function profileOf(properties: readonly Message[]): Profile | undefined {
  try {
    return Object.fromEntries(properties.map(({ key, json_value: json }) => [key, JSON.parse(json)]));
  } catch {
    return undefined;
  }
}

function sessionVariables(session: Session, request: Message): Message {
  if (request.set.some(({ name }: Message) => !String(name).startsWith("user.")))
    return { status: "INVALID_NAME" };
  for (const { name, value } of request.set) session.variables.set(name, value);
  const pid = session.hasEnded() ? null : session.pid;
  const values: Record<string, unknown> = { id: session.id, name: session.name(), pid, jobPid: pid };
  const told = (name: string): string =>
    session.variables.get(name) ?? JSON.stringify(values[name.replace(/^session\./, "")] ?? null);
  return { status: "OK", values: request.get.map(told) };
}

function activated(app: App, request: Message): { window: Window; tab?: Tab; session?: Session } | undefined {
  if (request.identifier === "session_id") return app.find(request.session_id);
  for (const window of app.windows) {
    if (request.identifier === "window_id" && window.id === request.window_id) return { window };
    const tab = window.tabs.find(({ id }) => String(id) === request.tab_id);
    if (request.identifier === "tab_id" && tab !== undefined) return { window, tab };
  }
  return undefined;
}
