import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import type { Message } from "../../mailbox/message.js";
import type { Stored } from "../../mailbox/place.js";
import { isLinkRefused } from "../../mailbox/rename-lock.js";
import { errnoOf, messageOf, TroupeError } from "../util/errors.js";
import { withLock } from "../util/lock.js";
import { faultOf } from "./uds-address.js";
import { type Conversation, converse, createByteBudget } from "./uds-converse.js";

/** A socket at which mail is taken. */
export interface MailListener {
  /** Stops listening, answers what is being stored, ends every connection and removes the socket. Idempotent. */
  close(): Promise<void>;
}

/** Where to listen, and the directory of locks by which those who want the same socket are kept apart. */
export interface MailSocket {
  readonly socket: string;
  readonly locks: string;
}

export interface ListenOptions {
  /** How long a client may take to send a whole line, or to read an answer, before it is cut off; 30 s. */
  readonly patienceMs?: number;
  /** Told of trouble with the socket itself, by code once; it goes on listening. Must not throw. */
  readonly onTrouble?: (error: TroupeError) => void;
}

/** How many clients are served at once; a further one is cut off. */
const maxClients = 256;

/** How many bytes of unfinished and unanswered lines they may have here together. */
const maxHeldBytes = 64 * 1024 * 1024;

/** How long another may take to begin to listen at the same place. */
const lockMs = 10_000;

/** How long clients that do not read their answer keep the end waiting. */
const closeGraceMs = 2_000;

/**
 * Listens at `socket` (mode 0600, in a directory that exists): each line that comes is one message as JSON, given to `store`
 * and then answered with `{"ok":true,"id":…}` or `{"ok":false,"error":…}`. A socket at which nobody listens any more is
 * replaced. Throws TroupeError `bad-address` (kind `usage`), `socket-taken` for anything else that has the name, or
 * `cannot-listen`.
 */
export async function listenForMail(
  { socket, locks }: MailSocket,
  store: (message: Message) => Promise<Stored>,
  options: ListenOptions = {},
): Promise<MailListener> {
  // Bound beside and then linked: it appears private and ready, and never in the place of another.
  const bound = beside(socket);
  for (const place of [socket, bound]) checkPath(place);
  const conversations = new Set<Conversation>();
  const told = new Set<string>();
  const budget = createByteBudget(maxHeldBytes);
  const server = net.createServer({ allowHalfOpen: true }, (stream) => {
    const conversation = converse(stream, store, options.patienceMs ?? 30_000, budget);
    conversations.add(conversation);
    stream.on("close", () => conversations.delete(conversation));
  });
  server.maxConnections = maxClients;
  try {
    await bind(server, bound);
    await withLock(lockOf(socket, locks), lockMs, () => takePlace(bound, socket));
  } catch (error) {
    server.close();
    throw listenError(socket, error);
  } finally {
    fs.rmSync(bound, { force: true });
  }
  const own = fs.lstatSync(socket, { throwIfNoEntry: false });
  server.on("error", (error) => {
    const trouble = listenError(socket, error);
    if (!told.has(trouble.message)) options.onTrouble?.(trouble);
    told.add(trouble.message);
  });
  let closing: Promise<void> | undefined;

  async function close(): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const now = fs.lstatSync(socket, { throwIfNoEntry: false });
    if (now !== undefined && now.ino === own?.ino && now.dev === own.dev) fs.rmSync(socket, { force: true });
    for (const conversation of conversations) conversation.end();
    const late = setTimeout(() => {
      for (const conversation of conversations) conversation.cut();
    }, closeGraceMs);
    try {
      await closed;
    } finally {
      clearTimeout(late);
    }
  }

  return {
    close() {
      closing ??= close();
      return closing;
    },
  };
}

function checkPath(socket: string): void {
  const fault = faultOf(socket);
  const dir = path.dirname(socket);
  if (fault === undefined && !fs.statSync(dir, { throwIfNoEntry: false })?.isDirectory())
    throw cannotListen(socket, `there is no directory ${dir}`);
  if (fault !== undefined)
    throw new TroupeError("bad-address", `cannot listen at ${JSON.stringify(socket)}: ${fault}`, {
      kind: "usage",
      remedy: "give the path of a socket, such as /directory/name.sock",
    });
}

function bind(server: net.Server, place: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    // Bound within the call, so that at no time anybody else may connect.
    const before = process.umask(0o177);
    try {
      server.listen(place, () => {
        server.off("error", reject);
        resolve();
      });
    } finally {
      process.umask(before);
    }
  });
}

/** Gives the bound socket its name. Only under the lock: between the look at a dead socket and its removal another may take its place. */
async function takePlace(bound: string, socket: string): Promise<void> {
  try {
    give(bound, socket);
    return;
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  }
  const stat = fs.lstatSync(socket, { throwIfNoEntry: false });
  if (stat?.isSocket() === false) throw taken(socket, "it is not a socket, and is left alone");
  if (stat !== undefined && stat.uid !== process.getuid?.())
    throw taken(socket, `it belongs to user ${stat.uid}`);
  if (await isAnswered(socket)) throw taken(socket, "somebody listens there");
  fs.rmSync(socket, { force: true });
  give(bound, socket);
}

/** Throws EEXIST where something has the name; without hard links that holds only among those who use the lock. */
function give(bound: string, socket: string): void {
  try {
    fs.linkSync(bound, socket);
  } catch (error) {
    if (!isLinkRefused(error)) throw error;
    if (fs.lstatSync(socket, { throwIfNoEntry: false }) !== undefined)
      throw Object.assign(new Error(`${socket} exists`), { code: "EEXIST" });
    fs.renameSync(bound, socket);
  }
}

function lockOf(socket: string, locks: string): string {
  const place = path.join(fs.realpathSync(path.dirname(socket)), path.basename(socket));
  return path.join(locks, `listen-${createHash("sha256").update(place).digest("hex").slice(0, 16)}`);
}

/** Whether somebody listens; also where that cannot be told. */
function isAnswered(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const stream = net.connect(socket);
    const end = (answered: boolean): void => {
      stream.destroy();
      resolve(answered);
    };
    stream.setTimeout(closeGraceMs, () => end(true));
    stream.on("connect", () => end(true));
    stream.on("error", (error) => end(!["ECONNREFUSED", "ENOENT"].includes(errnoOf(error) ?? "")));
  });
}

/** A free name in the directory of `socket`. */
function beside(socket: string): string {
  return path.join(path.dirname(socket), `.${randomBytes(4).toString("hex")}`);
}

function taken(socket: string, why: string): TroupeError {
  return new TroupeError("socket-taken", `cannot listen at ${socket}: ${why}`, {
    remedy: "give another path, or end who has this one",
  });
}

function listenError(socket: string, error: unknown): TroupeError {
  return error instanceof TroupeError ? error : cannotListen(socket, messageOf(error), error);
}

function cannotListen(socket: string, why: string, cause?: unknown): TroupeError {
  return new TroupeError("cannot-listen", `cannot listen at ${socket}: ${why}`, {
    remedy: "give the path of a socket in a directory of yours that exists",
    cause,
  });
}
