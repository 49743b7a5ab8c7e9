import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import { errnoOf } from "../../src/util/errors.js";
import { orAbort } from "../../src/util/wait.js";
import { type Connection, type Credentials, connect } from "./connection.js";
import { cookieIn, isNotLetIn, requestCookie } from "./cookie.js";
import { dropped, late, unreachable } from "./errors.js";
import { type Answers, type News, type RequestName, type Requests, sessionEnded } from "./messages.js";

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
  /** Ends the connection, or the attempt to get one. Idempotent. */
  disconnect(): void;
}

/** What must not be done twice. */
const onlyOnce: ReadonlySet<RequestName> = new Set<RequestName>(["split", "tab", "text"]);

/** iTerm2 may show the person a question before it lets anybody in. */
const connectMs = 60_000;

/** How long an answer is waited for after one that did not come, until another does, in milliseconds. */
const deafMs = 500;

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
  let stop = new AbortController();
  let deaf = false;

  async function open(signal: AbortSignal): Promise<Connection> {
    // Before anybody is asked for permission.
    await reach(socket, signal);
    const opened = await letIn(signal);
    try {
      await opened.ask("notify", { subscribe: true, type: sessionEnded }, answerMs, signal);
      connection = opened;
      return opened;
    } catch (error) {
      opened.close();
      throw error;
    }
  }

  async function letIn(signal: AbortSignal): Promise<Connection> {
    const cookie = given;
    given = undefined;
    if (cookie === undefined) return connectWith(await requestCookie(osascript, env, signal), signal);
    try {
      return await connectWith(cookie, signal);
    } catch (error) {
      // Whoever had this environment before us may have used it.
      if (!isNotLetIn(error) || !fs.existsSync(osascript)) throw error;
      return connectWith(await requestCookie(osascript, env, signal), signal);
    }
  }

  function connectWith(credentials: Credentials, signal: AbortSignal): Promise<Connection> {
    const onNews = ({ terminated }: News): void => {
      if (terminated?.session !== undefined) ended.add(terminated.session);
    };
    return connect({ socket, credentials, deadlineMs: connectMs, onNews }, signal);
  }

  function connected(signal?: AbortSignal): Promise<Connection> {
    if (connection?.isOpen()) return Promise.resolve(connection);
    connecting ??= open(stop.signal).finally(() => {
      connecting = undefined;
    });
    return signal === undefined ? connecting : orAbort(connecting, signal);
  }

  async function askOnce<Name extends RequestName>(
    name: Name,
    request: Requests[Name],
    signal?: AbortSignal,
  ): Promise<Answers[Name]> {
    const open = await connected(signal);
    try {
      const answer = await open.ask(name, request, deaf ? Math.min(deafMs, answerMs) : answerMs, signal);
      deaf = false;
      return answer;
    } catch (error) {
      deaf = errnoOf(error) === "iterm2-timeout";
      throw error;
    }
  }

  return {
    hasEnded: (session) => ended.has(session),
    async ask(name, request, signal) {
      try {
        return await askOnce(name, request, signal);
      } catch (error) {
        if (errnoOf(error) !== "iterm2-dropped" || onlyOnce.has(name)) throw error;
        return askOnce(name, request, signal);
      }
    },
    disconnect() {
      stop.abort(dropped());
      stop = new AbortController();
      connection?.close();
    },
  };
}

/** Throws what `connect` throws where nobody listens. */
async function reach(socket: string, signal: AbortSignal): Promise<void> {
  const pipe = net.connect(socket);
  try {
    await once(pipe, "connect", { signal: AbortSignal.any([signal, AbortSignal.timeout(reachMs)]) });
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof Error && error.name === "AbortError"
      ? late("answer", reachMs)
      : unreachable(socket, error);
  } finally {
    pipe.destroy();
  }
}
