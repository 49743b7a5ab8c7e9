import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import { errnoOf } from "../../src/util/errors.js";
import { orAbort } from "../../src/util/wait.js";
import { type Connection, type Credentials, connect } from "./connection.js";
import { cookieIn, isNotLetIn, requestCookie } from "./cookie.js";
import { late, unreachable } from "./errors.js";
import { type Answers, type RequestName, type Requests, sessionEnded } from "./messages.js";

export interface ApiOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly socket: string;
  /** The program that asks iTerm2 for a cookie; default `/usr/bin/osascript`. */
  readonly osascript?: string;
  /** For each request, in milliseconds; default 10 s. */
  readonly answerMs?: number;
}

/** The API of one iTerm2, connected when it is needed. */
export interface Api {
  /**
   * Connects first, where there is no connection or no more; asks again, once, what may be asked twice, if the connection ends
   * before the answer. As `Connection.ask`, and what `connect` throws.
   */
  ask<Name extends RequestName>(
    name: Name,
    request: Requests[Name],
    signal?: AbortSignal,
  ): Promise<Answers[Name]>;
  /** Whether a session was told to have ended. */
  hasEnded(session: string): boolean;
  /** Ends the connection, if there is one. Idempotent. */
  disconnect(): void;
}

/** What must not be done twice. */
const onlyOnce: ReadonlySet<RequestName> = new Set<RequestName>(["split", "tab", "text"]);

/** iTerm2 may show the person a question before it lets anybody in. */
const connectMs = 60_000;

/** For the look whether anybody listens at all. */
const reachMs = 5_000;

/** One connection for everything: a cookie is good for one only, and to get another can mean to ask the person. */
export function openApi({
  env,
  socket,
  osascript = "/usr/bin/osascript",
  answerMs = 10_000,
}: ApiOptions): Api {
  const ended = new Set<string>();
  let connection: Connection | undefined;
  let connecting: Promise<Connection> | undefined;
  let given = cookieIn(env);

  async function open(): Promise<Connection> {
    // Before anybody is asked for permission.
    await reach(socket);
    const opened = await letIn();
    await opened.ask("notify", { subscribe: true, type: sessionEnded }, answerMs);
    connection = opened;
    return opened;
  }

  async function letIn(): Promise<Connection> {
    const cookie = given;
    given = undefined;
    if (cookie === undefined) return connectWith(await requestCookie(osascript, env));
    try {
      return await connectWith(cookie);
    } catch (error) {
      // Whoever had this environment before us may have used it.
      if (!isNotLetIn(error) || !fs.existsSync(osascript)) throw error;
      return connectWith(await requestCookie(osascript, env));
    }
  }

  function connectWith(credentials: Credentials): Promise<Connection> {
    return connect({
      socket,
      credentials,
      deadlineMs: connectMs,
      onNews: ({ terminated }) => {
        if (terminated?.session !== undefined) ended.add(terminated.session);
      },
    });
  }

  function connected(signal?: AbortSignal): Promise<Connection> {
    if (connection?.isOpen()) return Promise.resolve(connection);
    connecting ??= open().finally(() => {
      connecting = undefined;
    });
    return signal === undefined ? connecting : orAbort(connecting, signal);
  }

  return {
    hasEnded: (session) => ended.has(session),
    async ask(name, request, signal) {
      const ask = async () => (await connected(signal)).ask(name, request, answerMs, signal);
      try {
        return await ask();
      } catch (error) {
        if (errnoOf(error) !== "iterm2-dropped" || onlyOnce.has(name)) throw error;
        return ask();
      }
    },
    disconnect: () => connection?.close(),
  };
}

/** Throws what `connect` throws where nobody listens. */
async function reach(socket: string): Promise<void> {
  const pipe = net.connect(socket);
  try {
    await once(pipe, "connect", { signal: AbortSignal.timeout(reachMs) });
  } catch (error) {
    throw error instanceof Error && error.name === "AbortError"
      ? late("answer", reachMs)
      : unreachable(socket, error);
  } finally {
    pipe.destroy();
  }
}
