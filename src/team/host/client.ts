import net from "node:net";
import { type ErrorKind, errnoOf, exitCodes, TroupeError } from "../../util/errors.js";
import { readLines } from "../../util/ndjson.js";
import { withDeadline } from "../../util/wait.js";
import { defaults } from "../defaults.js";
import type { TeamEvent } from "../events.js";
import type { TeamPaths } from "../paths.js";
import {
  type HostMethod,
  type HostParams,
  type HostPush,
  type HostReply,
  type HostResult,
  protocolVersion,
} from "./protocol.js";

/** A connection to a team's host. The caller closes it. */
export interface HostConnection {
  /**
   * One request. `timeoutMs` defaults to 10 s. Errors: what the host answered as TroupeError, `deadline`, `host-gone`
   * if the host ended before it answered, or answered with what is none.
   */
  request<M extends HostMethod>(
    method: M,
    params: HostParams<M>,
    options?: { readonly timeoutMs?: number; readonly signal?: AbortSignal },
  ): Promise<HostResult<M>>;
  /** Sends without waiting for the reply; refusals and a gone host are ignored, `closed` tells the latter. */
  tell<M extends HostMethod>(method: M, params: HostParams<M>): void;
  /** Calls back for events that the host pushes after `subscribe`. */
  onEvent(listener: (event: TeamEvent) => void): void;
  /** Resolves when the connection has ended, from either side. */
  readonly closed: Promise<void>;
  close(): void;
}

/** Connects, or gives undefined where no host listens. Throws TroupeError `deadline` if it accepts nothing in time. */
export async function connectHost(
  paths: TeamPaths,
  signal?: AbortSignal,
): Promise<HostConnection | undefined> {
  const stream = await withDeadline(
    `the host of ${paths.dirName}`,
    defaults.hostRequestMs,
    (deadline) => open(paths.socket, deadline),
    signal,
  );
  return stream === undefined ? undefined : converse(stream, paths);
}

/** As {@link connectHost}; a missing host is a TroupeError `no-host` that says what can be done. */
export async function requireHost(paths: TeamPaths, signal?: AbortSignal): Promise<HostConnection> {
  const connection = await connectHost(paths, signal);
  if (connection !== undefined) return connection;
  throw new TroupeError("no-host", `no host runs the team ${paths.dirName}`, {
    kind: "not-found",
    remedy: `end what it may have left: troupe down --team ${paths.dirName}; then start it again: troupe up`,
  });
}

/** A reset is what a connection meets that its host had not yet accepted when it stopped listening. */
const nobodyListens = ["ENOENT", "ECONNREFUSED", "ECONNRESET", "ENOTSOCK"];

function open(socket: string, signal: AbortSignal): Promise<net.Socket | undefined> {
  return new Promise((resolve, reject) => {
    const stream = net.connect(socket);
    const abort = (): void => void stream.destroy();
    signal.addEventListener("abort", abort, { once: true });
    stream.once("connect", () => {
      signal.removeEventListener("abort", abort);
      stream.removeAllListeners("error");
      resolve(stream);
    });
    stream.once("error", (error) => {
      signal.removeEventListener("abort", abort);
      if (nobodyListens.includes(errnoOf(error) ?? "")) resolve(undefined);
      else reject(error);
    });
  });
}

function converse(stream: net.Socket, paths: TeamPaths): HostConnection {
  const waiting = new Map<number, (reply: HostReply | undefined) => void>();
  const listeners: ((event: TeamEvent) => void)[] = [];
  let last = 0;
  let closed = false;
  const end = new Promise<void>((resolve) => {
    stream.on("close", () => {
      closed = true;
      for (const settle of waiting.values()) settle(undefined);
      waiting.clear();
      resolve();
    });
  });
  // "close" follows every error and settles whoever waits.
  stream.on("error", () => undefined);
  readLines(stream, (line) => {
    const value = parse(line);
    if (value === undefined) stream.destroy();
    else if ("event" in value) for (const listener of listeners) listener(value.event);
    else {
      waiting.get(value.id)?.(value);
      waiting.delete(value.id);
    }
  });
  const write = (method: HostMethod, params: unknown): number => {
    const id = ++last;
    if (stream.writable) stream.write(`${JSON.stringify({ v: protocolVersion, id, method, params })}\n`);
    return id;
  };

  return {
    closed: end,
    close: () => stream.destroySoon(),
    onEvent: (listener) => void listeners.push(listener),
    tell: (method, params) => void write(method, params),
    async request<M extends HostMethod>(
      method: M,
      params: HostParams<M>,
      options: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {},
    ) {
      let id = 0;
      try {
        const reply = await withDeadline(
          `the host of ${paths.dirName} on ${method}`,
          options.timeoutMs ?? defaults.hostRequestMs,
          () =>
            new Promise<HostReply | undefined>((resolve) => {
              id = write(method, params);
              if (closed) resolve(undefined);
              else waiting.set(id, resolve);
            }),
          options.signal,
        );
        return resultOf<M>(reply, paths);
      } finally {
        waiting.delete(id);
      }
    },
  };
}

/** A line from the host, or undefined for what no host writes. */
function parse(line: string): HostReply | HostPush | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as HostReply | HostPush) : undefined;
  } catch {
    return undefined;
  }
}

function resultOf<M extends HostMethod>(reply: HostReply | undefined, paths: TeamPaths): HostResult<M> {
  if (reply === undefined)
    throw new TroupeError("host-gone", `the host of ${paths.dirName} ended before it answered`, {
      remedy: `troupe status --team ${paths.dirName}`,
    });
  if (reply.ok) return reply.result as HostResult<M>;
  const { code, kind, message, remedy } = reply.error;
  throw new TroupeError(code, message, {
    kind: Object.hasOwn(exitCodes, kind) ? (kind as ErrorKind) : "failed",
    ...(remedy === undefined ? {} : { remedy }),
  });
}
