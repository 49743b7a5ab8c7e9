import type { Socket } from "node:net";
import { type Message, maxFileBytes, parseMessage } from "../../mailbox/message.js";
import type { Stored } from "../../mailbox/place.js";
import { messageOf } from "../util/errors.js";

/** One client of a mail listener. */
export interface Conversation {
  /** Ends it after the line at hand. */
  end(): void;
  /** Ends it at once. */
  cut(): void;
}

/** What a line is answered with, itself one line of JSON. */
type Answer =
  | { readonly ok: true; readonly id: string; readonly duplicate?: true }
  | { readonly ok: false; readonly error: string };

/** How many bytes of lines all clients together may have here, in parts or while they are stored. */
export interface ByteBudget {
  /** False, and nothing is taken, where that would be too many. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

export function createByteBudget(limit: number): ByteBudget {
  let taken = 0;
  return {
    take(bytes) {
      if (taken + bytes > limit) return false;
      taken += bytes;
      return true;
    },
    give(bytes) {
      taken -= bytes;
    },
  };
}

const lineFeed = 10;

/**
 * Takes messages from a client, a line each, and answers each when it is stored, one after the other: the client is not
 * read while one is being stored. A line that is no message is answered with what is wrong; one that is too long
 * or has no end was the last, as is one for which `budget` has no room. A client that for `patienceMs` brings no whole line, or takes no answer, is cut off.
 */
export function converse(
  stream: Socket,
  store: (message: Message) => Promise<Stored>,
  patienceMs: number,
  budget: ByteBudget,
): Conversation {
  let parts: Buffer[] = [];
  let held = 0;
  let ended = false;
  let work = Promise.resolve();
  let patience = setTimeout(cut, patienceMs);

  // What a client does to its end of the connection is no failure of ours; "close" follows.
  stream.on("error", () => undefined);
  stream.on("close", () => {
    ended = true;
    clearTimeout(patience);
    work = work.then(drop);
  });
  stream.on("data", (chunk: Buffer) => {
    if (ended) return;
    stream.pause();
    work = work.then(() => take(chunk)).then(() => void (stream.destroyed || stream.resume()));
  });
  stream.on("end", () => {
    work = work.then(() => finish(held === 0 ? undefined : { ok: false, error: "the line has no end" }));
  });
  return { end, cut };

  /** Never rejects. */
  async function take(chunk: Buffer): Promise<void> {
    let rest = chunk;
    for (let at = rest.indexOf(lineFeed); at !== -1 && !ended; at = rest.indexOf(lineFeed)) {
      const line = Buffer.concat([...parts, rest.subarray(0, at)]);
      rest = rest.subarray(at + 1);
      clearTimeout(patience);
      const answer = await answerTo(line, store);
      drop();
      if (!ended) patience = setTimeout(cut, patienceMs);
      await write(answer);
    }
    if (ended || rest.length === 0) return;
    if (held + rest.length > maxFileBytes)
      return finish({ ok: false, error: `the line is longer than ${maxFileBytes} bytes` });
    if (!budget.take(rest.length))
      return finish({
        ok: false,
        error: "too much is being sent by all clients together: send it again later",
      });
    parts.push(rest);
    held += rest.length;
  }

  /** Forgets what is held of a line. */
  function drop(): void {
    budget.give(held);
    parts = [];
    held = 0;
  }

  /** Resolves when the answer has left, or the connection is gone. */
  function write(answer: Answer): Promise<void> {
    if (stream.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      stream.once("close", resolve);
      stream.write(`${JSON.stringify(answer)}\n`, () => {
        stream.off("close", resolve);
        resolve();
      });
    });
  }

  /** Says the last word. What still comes is read and dropped: closed at once, the client might not get to read it. */
  function finish(answer?: Answer): void {
    ended = true;
    drop();
    if (!stream.destroyed) stream.end(answer === undefined ? "" : `${JSON.stringify(answer)}\n`);
  }

  function end(): void {
    ended = true;
    work = work.then(() => stream.destroySoon());
  }

  function cut(): void {
    ended = true;
    stream.destroy();
  }
}

async function answerTo(line: Buffer, store: (message: Message) => Promise<Stored>): Promise<Answer> {
  const parsed = parseMessage(line);
  if (parsed.type === "newer")
    return { ok: false, error: `the message's format is version ${parsed.v}, which is too new` };
  if (parsed.type === "bad") return { ok: false, error: parsed.reason };
  try {
    const { id, duplicate } = await store(parsed.message);
    return { ok: true, id, ...(duplicate ? { duplicate } : {}) };
  } catch (error) {
    return { ok: false, error: messageOf(error) };
  }
}
