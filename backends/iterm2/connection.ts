import net from "node:net";
import type { WebSocket } from "ws";
import { oneLine } from "../../src/util/text.js";
import { version } from "../../src/util/version.js";
import { answered, dropped, handshakeRefused, late, unreachable } from "./errors.js";
import {
  type Answers,
  type Codec,
  loadCodec,
  type News,
  type RequestName,
  type Requests,
  type ServerMessage,
} from "./messages.js";

/** What lets a client in. Each is good for one connection. */
export interface Credentials {
  readonly cookie: string;
  readonly key?: string;
}

/** One connection to iTerm2's API. Requests may overlap; each is answered by its id. */
export interface Connection {
  /**
   * Throws TroupeError: `iterm2-timeout` after `deadlineMs`, `iterm2-dropped` where the connection ended (in both cases
   * it may have been done), `iterm2-refused`; or the signal's reason.
   */
  ask<Name extends RequestName>(
    name: Name,
    request: Requests[Name],
    deadlineMs: number,
    signal?: AbortSignal,
  ): Promise<Answers[Name]>;
  isOpen(): boolean;
  /** Idempotent. */
  close(): void;
}

export interface ConnectOptions {
  /** The path of the API's socket. */
  readonly socket: string;
  readonly credentials?: Credentials | undefined;
  /** For the whole handshake, in which iTerm2 may ask the person. */
  readonly deadlineMs: number;
  /** Told of every message that is no answer. */
  readonly onNews?: (news: News) => void;
}

/**
 * Connects to the API. An idle connection does not keep the process from ending. Throws TroupeError: `iterm2-api-off`,
 * `iterm2-no-permission`, `iterm2-client-too-old`, `iterm2-bad-handshake`, `iterm2-socket-refused`, `iterm2-unreachable`,
 * `iterm2-timeout`; or the signal's reason.
 */
export async function connect(options: ConnectOptions, signal?: AbortSignal): Promise<Connection> {
  const [{ WebSocket: Socket }, codec] = await Promise.all([import("ws"), loadCodec()]);
  signal?.throwIfAborted();
  const { socket, credentials, deadlineMs } = options;
  const pipe = net.connect(socket);
  // The path holds a space, which a URL would not keep.
  const web = new Socket("ws://localhost/", "api.iterm2.com", {
    createConnection: () => pipe,
    perMessageDeflate: false,
    origin: "ws://localhost/",
    maxPayload: 256 * 1024 * 1024,
    headers: {
      "x-iterm2-library-version": `troupe ${version}`,
      "x-iterm2-advisory-name": "troupe",
      ...(credentials === undefined ? {} : { "x-iterm2-cookie": credentials.cookie }),
      ...(credentials?.key === undefined ? {} : { "x-iterm2-key": credentials.key }),
    },
  });
  await opened(web, socket, deadlineMs, signal);
  pipe.unref();
  return talk(web, codec, options.onNews ?? (() => {}));
}

function opened(web: WebSocket, socket: string, deadlineMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      end();
    };
    const fail = (error: unknown): void =>
      settle(() => {
        reject(error);
        web.terminate();
      });
    const onAbort = () => fail(signal?.reason);
    const timer = setTimeout(() => fail(late("let troupe in", deadlineMs)), deadlineMs);
    signal?.addEventListener("abort", onAbort, { once: true });
    web.once("open", () => settle(resolve));
    web.once("unexpected-response", (_, response) => fail(handshakeRefused(response.statusCode)));
    // Stays: ending a socket that is still connecting is an error, too.
    web.on("error", (error) => fail(unreachable(socket, error)));
  });
}

interface Waiting {
  readonly answer: (message: ServerMessage) => void;
  readonly fail: (error: unknown) => void;
}

function talk(web: WebSocket, codec: Codec, onNews: NonNullable<ConnectOptions["onNews"]>): Connection {
  const waiting = new Map<number, Waiting>();
  let lastId = 0;

  const take = (bytes: Uint8Array): void => {
    let message: ServerMessage;
    try {
      message = codec.decode(bytes);
    } catch {
      // What cannot be read may be the answer that somebody waits for; nothing behind it can be trusted.
      web.terminate();
      return;
    }
    if (message.news !== undefined) onNews(message.news);
    else if (message.id !== undefined) waiting.get(message.id)?.answer(message);
  };
  web.binaryType = "nodebuffer";
  web.on("message", (data) => take(data as Buffer));
  web.on("close", () => {
    for (const { fail } of [...waiting.values()]) fail(dropped());
  });

  return {
    isOpen: () => web.readyState === web.OPEN,
    close: () => web.terminate(),
    ask(name, request, deadlineMs, signal) {
      return new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        if (web.readyState !== web.OPEN) throw dropped();
        const id = ++lastId;
        const settle = (end: () => void): void => {
          waiting.delete(id);
          clearTimeout(timer);
          signal?.removeEventListener("abort", onAbort);
          end();
        };
        const fail = (error: unknown): void => settle(() => reject(error));
        const onAbort = () => fail(signal?.reason);
        const timer = setTimeout(() => fail(late(`answer (${name})`, deadlineMs)), deadlineMs);
        signal?.addEventListener("abort", onAbort, { once: true });
        const answer = (message: ServerMessage): void => {
          const found = message[name];
          if (found !== undefined) settle(() => resolve(found as Answers[typeof name]));
          else fail(answered(name, oneLine(message.error ?? "it gave no answer that is known here")));
        };
        waiting.set(id, { answer, fail });
        // A failed write ends the connection, which is heard of by its end.
        web.send(codec.encode(id, name, request), () => {});
      });
    },
  };
}
