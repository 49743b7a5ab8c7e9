import fs from "node:fs";
import type { Socket } from "node:net";
import { encodeMessage, type Message } from "../../mailbox/message.js";
import { errnoOf, messageOf, TroupeError } from "../util/errors.js";
import { oneLine } from "../util/text.js";
import { withDeadline } from "../util/wait.js";

/** Longest answer in bytes. */
const maxAnswerBytes = 64 * 1024;

/**
 * Hands a message as one line of JSON to whoever listens at the Unix socket `socket`, and waits for the answer, at most
 * `timeoutMs`. Throws TroupeErrors: `bad-message`; `no-listener` (kind `not-found`); `foreign-socket` for one of another user;
 * `refused` with what was answered; and where an answer is missing, late or none, `maybe-stored` (kind `not-reached`), after
 * which sending it again with the same id settles the matter. Rejects with the signal's reason on abort.
 */
export async function sendToSocket(
  socket: string,
  message: Message,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<{ readonly duplicate: boolean }> {
  const line = encodeMessage(message);
  checkSocket(socket);
  const started = performance.now();
  const stream = await withDeadline(
    `connecting to ${socket}`,
    timeoutMs,
    (deadline) => connect(socket, deadline),
    signal,
  );
  try {
    const left = Math.max(1, timeoutMs - (performance.now() - started));
    const answer = await withDeadline("its answer", left, () => ask(stream, line), signal);
    return judge(answer, socket, message.id);
  } catch (error) {
    if (signal?.aborted || (error instanceof TroupeError && error.code !== "deadline")) throw error;
    throw maybe(socket, message.id, messageOf(error), error);
  } finally {
    stream.destroy();
  }
}

/** Makes sure that there is a socket and that it is this user's: what others listen at is none of ours to tell. */
function checkSocket(socket: string): void {
  let stat: fs.Stats;
  try {
    stat = fs.lstatSync(socket);
  } catch (cause) {
    const code = errnoOf(cause);
    if (code === "ENOENT" || code === "ENOTDIR") throw noListener(socket, "there is no such socket", cause);
    throw unusable(socket, messageOf(cause), cause);
  }
  if (!stat.isSocket()) throw noListener(socket, "it is not a socket");
  if (stat.uid === process.getuid?.()) return;
  throw new TroupeError("foreign-socket", `not sent: the socket ${socket} belongs to user ${stat.uid}`, {
    remedy: "send only to sockets of your own programs",
  });
}

function connect(socket: string, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    // Loading node:net costs every short command; only this one needs it.
    const stream = process.getBuiltinModule("node:net").connect(socket);
    const abort = (): void => void stream.destroy();
    signal.addEventListener("abort", abort, { once: true });
    stream.once("connect", () => {
      signal.removeEventListener("abort", abort);
      stream.removeAllListeners("error");
      resolve(stream);
    });
    stream.once("error", (error) => {
      signal.removeEventListener("abort", abort);
      const code = errnoOf(error);
      if (code === "ECONNREFUSED") reject(noListener(socket, "nobody listens at it", error));
      else if (code === "ENOENT") reject(noListener(socket, "there is no such socket", error));
      else reject(unusable(socket, messageOf(error), error));
    });
  });
}

/** The first line that comes back. Rejects where the connection ends without one. */
function ask(stream: Socket, line: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    let got = Buffer.alloc(0);
    stream.on("error", reject);
    stream.on("close", () => reject(new Error("the connection ended without an answer")));
    stream.on("data", (chunk: Buffer) => {
      got = Buffer.concat([got, chunk]);
      const end = got.indexOf(10);
      if (end !== -1) resolve(got.subarray(0, end).toString("utf8"));
      else if (got.length > maxAnswerBytes) reject(new Error("the answer is too long"));
    });
    stream.write(line);
  });
}

function judge(answer: string, socket: string, id: string): { readonly duplicate: boolean } {
  const { ok, error, ...rest } = objectIn(answer);
  if (ok === true && rest["id"] === id) return { duplicate: rest["duplicate"] === true };
  if (ok !== false || typeof error !== "string")
    throw maybe(socket, id, `its answer was ${oneLine(answer, 80) || "empty"}`);
  throw new TroupeError("refused", `not sent: ${socket} refused the message: ${oneLine(error, 400)}`, {
    remedy: `mend what it says, then send it again with --id ${id}`,
  });
}

function objectIn(json: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

function maybe(socket: string, id: string, why: string, cause?: unknown): TroupeError {
  return new TroupeError("maybe-stored", `message ${id} may be stored by ${socket} or not: ${why}`, {
    kind: "not-reached",
    remedy: `send it again with --id ${id}: it will not arrive twice`,
    cause,
  });
}

function noListener(socket: string, why: string, cause?: unknown): TroupeError {
  return new TroupeError("no-listener", `not sent: nobody listens at ${socket}: ${why}`, {
    kind: "not-found",
    remedy: `start the program that does, for example: troupe inbox --follow --listen ${socket}`,
    cause,
  });
}

function unusable(socket: string, why: string, cause: unknown): TroupeError {
  return new TroupeError("unusable-socket", `not sent: the socket ${socket} cannot be used: ${why}`, {
    cause,
  });
}
