import { oneLine } from "../../src/util/text.js";
import { type ApiOptions, openApi } from "./api.js";
import { answered } from "./errors.js";
import type { SessionSummary, SplitNode } from "./messages.js";
import { type Iterm2Transport, type OpenAnswer, propertiesOf, type TermSession } from "./transport.js";

/** iTerm2 through its API. Connects at the first call. Every call throws TroupeError, code `iterm2-…`, where it is not answered. */
export function openApiTransport(options: ApiOptions): Iterm2Transport {
  const api = openApi(options);
  return {
    socket: options.socket,
    hasEnded: api.hasEnded,
    disconnect: api.disconnect,
    async list(signal) {
      const { windows } = await api.ask("list", {}, signal);
      return windows.flatMap(({ id: window = "", tabs }) =>
        tabs.map(({ id: tab = "", root, minimized }, index) => ({
          window,
          tab,
          index,
          sessions: [...sessionsIn(root), ...minimized.flatMap(sessionOf)],
          zoomed: minimized.length > 0,
        })),
      );
    },
    async split({ session, vertical, profile }) {
      const { status = "OK", sessions } = await api.ask("split", {
        session,
        direction: vertical ? "VERTICAL" : "HORIZONTAL",
        before: false,
        properties: propertiesOf(profile),
      });
      return openAnswer("open a pane", status, sessions[0], {
        SESSION_NOT_FOUND: "not-there",
        CANNOT_SPLIT: "no-space",
      });
    },
    async openTab({ window, index, profile }) {
      const { status = "OK", session } = await api.ask("tab", {
        ...(window === undefined ? {} : { window }),
        ...(index === undefined ? {} : { index }),
        properties: propertiesOf(profile),
        select: false,
      });
      return openAnswer("open a tab", status, session, {
        INVALID_WINDOW_ID: "not-there",
        INVALID_TAB_INDEX: "not-there",
      });
    },
    async close(session) {
      const { statuses } = await api.ask("close", { sessions: { ids: [session] }, force: true });
      const [status = "OK"] = statuses;
      if (status === "OK") return "closed";
      if (status === "NOT_FOUND") return "not-there";
      if (status === "USER_DECLINED") return "declined";
      throw answered("close a pane", oneLine(status));
    },
    async type(session, text) {
      const { status } = await api.ask("text", { session, text, alone: true });
      return isThere("type", status);
    },
    async setProfile(session, profile) {
      const { status } = await api.ask("profile", { session, assignments: propertiesOf(profile) });
      return isThere("change a pane", status);
    },
    async setVariables(session, values) {
      const set = Object.entries(values).map(([name, value]) => ({ name, json: JSON.stringify(value) }));
      const { status } = await api.ask("variable", { session, set });
      return isThere("mark a pane", status);
    },
    async getVariables(place, names) {
      const { status, values } = await api.ask("variable", { ...place, get: names });
      if (status === "TAB_NOT_FOUND" || !isThere("tell of a pane", status)) return undefined;
      return names.map((_, index) => parsed(values[index]));
    },
    async screen(session, lines) {
      const { status, contents, range, cursor } = await api.ask("buffer", {
        session,
        lines: { trailing: lines },
      });
      if (!isThere("show a pane", status)) return undefined;
      return {
        lines: contents.map(({ text = "" }) => text.replaceAll("\0", " ")),
        first: range?.location ?? 0,
        cursor: { x: cursor?.x ?? 0, y: cursor?.y ?? 0 },
      };
    },
    async activate(session, raise) {
      const { status = "OK" } = await api.ask("activate", {
        session,
        orderFront: raise,
        selectTab: raise,
        selectSession: true,
        ...(raise ? { app: { ignoringOthers: true } } : {}),
      });
      if (status !== "OK" && status !== "BAD_IDENTIFIER") throw answered("go to a pane", oneLine(status));
      return status === "OK";
    },
  };
}

function sessionsIn(root: SplitNode | undefined): TermSession[] {
  return (root?.links ?? []).flatMap(({ session, node }) => {
    return node === undefined ? sessionOf(session) : sessionsIn(node);
  });
}

function sessionOf({ id, title = "", grid }: SessionSummary = {}): TermSession[] {
  if (id === undefined) return [];
  return [{ session: id, title, width: grid?.width ?? 0, height: grid?.height ?? 0 }];
}

function openAnswer(
  what: string,
  status: string,
  session: string | undefined,
  expected: Readonly<Record<string, "not-there" | "no-space">>,
): OpenAnswer {
  if (status === "OK" && session !== undefined) return { ok: true, session };
  const why = expected[status];
  if (why === undefined) throw answered(what, status === "OK" ? "it named no new session" : oneLine(status));
  return { ok: false, why };
}

function isThere(what: string, status = "OK"): boolean {
  if (status !== "OK" && status !== "SESSION_NOT_FOUND") throw answered(what, oneLine(status));
  return status === "OK";
}

/** A value as the API tells it, in JSON; `null` is what is not set. */
function parsed(json: string | undefined): unknown {
  try {
    return json === undefined ? undefined : (JSON.parse(json) ?? undefined);
  } catch {
    return undefined;
  }
}
