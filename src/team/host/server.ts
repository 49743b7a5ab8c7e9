import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { TroupeError } from "../../util/errors.js";
import { ensureDir } from "../../util/fs.js";
import { readLines } from "../../util/ndjson.js";
import type { TeamEvent } from "../events.js";
import {
  type HostMethod,
  type HostParams,
  type HostReply,
  type HostResult,
  protocolVersion,
} from "./protocol.js";

/** One connection to the host, as the methods see it. */
export interface Connection {
  push(event: TeamEvent): void;
  /** Calls back when the other end is gone, whatever the reason; at once if it is. */
  onClose(callback: () => void): void;
  close(): void;
}

/** The host's methods. A thrown TroupeError reaches the caller as it is; any other error as code `internal`. */
export type HostHandlers = {
  [M in HostMethod]: (
    params: HostParams<M>,
    connection: Connection,
  ) => Promise<HostResult<M>> | HostResult<M>;
};

export interface ControlServer {
  /**
   * Stops listening, lets replies that are under way be written (for 2 s, to clients that read), closes every connection,
   * removes the socket.
   */
  close(): Promise<void>;
}

/** How long a client that does not read keeps the end of a host waiting. */
const closeGraceMs = 2_000;

/** A client that leaves so much unread is cut off: a viewer that somebody stopped must not fill the host's memory. */
const maxUnreadBytes = 32 * 1024 * 1024;

/** Listens on `socket`; a stale socket file is replaced. Only the host that holds the team's lock may call it. */
export async function listen(socket: string, handlers: HostHandlers): Promise<ControlServer> {
  await ensureDir(path.dirname(socket));
  fs.rmSync(socket, { force: true });
  const connections = new Set<net.Socket>();
  const server = net.createServer((stream) => {
    connections.add(stream);
    stream.on("close", () => connections.delete(stream));
    serve(stream, handlers);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socket, resolve);
  });
  fs.chmodSync(socket, 0o600);
  return {
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const stream of connections) stream.destroySoon();
      const late = setTimeout(() => {
        for (const stream of connections) stream.destroy();
      }, closeGraceMs);
      try {
        await closed;
      } finally {
        clearTimeout(late);
      }
      fs.rmSync(socket, { force: true });
    },
  };
}

function serve(stream: net.Socket, handlers: HostHandlers): void {
  const onClose: (() => void)[] = [];
  const connection: Connection = {
    push: (event) => send(stream, { event }),
    onClose: (callback) => void (stream.destroyed ? callback() : onClose.push(callback)),
    close: () => stream.destroySoon(),
  };
  // A reset by the peer, or a line without end, is the same news as its end, which "close" brings.
  stream.on("error", () => undefined);
  stream.on("close", () => {
    for (const callback of onClose) callback();
  });
  readLines(stream, (line) => void answer(line, connection, handlers).then((reply) => send(stream, reply)));
}

async function answer(line: string, connection: Connection, handlers: HostHandlers): Promise<HostReply> {
  let id = 0;
  try {
    const request: unknown = JSON.parse(line);
    if (typeof request !== "object" || request === null)
      throw new TroupeError("bad-request", "not an object");
    const { v, id: number, method, params } = request as Record<string, unknown>;
    id = typeof number === "number" ? number : 0;
    if (v !== protocolVersion)
      throw new TroupeError(
        "version",
        `this host speaks protocol ${protocolVersion}, the command ${String(v)}`,
        {
          remedy: "end the team with the troupe that started it (troupe down), then start it again",
        },
      );
    if (typeof method !== "string" || !Object.hasOwn(handlers, method))
      throw new TroupeError("unknown-method", `the host knows no method ${String(method)}`);
    const handler = handlers[method as HostMethod] as (p: unknown, c: Connection) => unknown;
    return { id, ok: true, result: await handler(params ?? {}, connection) };
  } catch (error) {
    return failure(id, error);
  }
}

function failure(id: number, error: unknown): HostReply {
  if (error instanceof TroupeError) {
    const { code, kind, message, remedy } = error;
    return { id, ok: false, error: { code, kind, message, ...(remedy === undefined ? {} : { remedy }) } };
  }
  return {
    id,
    ok: false,
    error: { code: "internal", kind: "failed", message: `the host failed: ${String(error)}` },
  };
}

function send(stream: net.Socket, value: unknown): void {
  if (!stream.writable) return;
  if (stream.writableLength > maxUnreadBytes) stream.destroy();
  else stream.write(`${JSON.stringify(value)}\n`);
}
