import type { Message } from "../../mailbox/message.js";
import { mailRooms, peekMailbox } from "../../mailbox/peek.js";
import { type AwaitedReceipt, waitForReceipt } from "../../mailbox/receipts.js";
import { TroupeError } from "../util/errors.js";
import { nameKey } from "../util/name-key.js";
import { delay } from "../util/wait.js";
import { isChannel } from "./channels.js";
import { type ReceivedMessage, received } from "./inbox.js";
import { splitAddress } from "./keys.js";
import type { LocatedTeam } from "./locate.js";
import { type Delivery, mailboxOf, type Sent } from "./send.js";

/** How far a message can be waited for, in order. */
export const awaitable = ["stored", "delivered", "seen", "replied"] as const;

export type Awaitable = (typeof awaitable)[number];

/** How far a message got by the end of a wait. */
export interface Awaited {
  readonly wanted: Awaitable;
  readonly reached: boolean;
  /** The least of all to whom it was stored; `none` where it was stored for nobody. */
  readonly receipt: string;
  /** Each with its own receipt, but for those that failed. */
  readonly deliveries: readonly (Delivery & { readonly receipt?: string })[];
  /** The answers that came, where they were waited for. */
  readonly replies?: readonly ReceivedMessage[];
}

/** Whose mailbox the answers come to, and the team that it belongs to. */
export interface Asker {
  readonly name: string;
  readonly team: LocatedTeam;
}

/**
 * Waits until all to whom `sent` was stored have got at least as far as `wanted`, at most `timeoutMs`, and tells how far each
 * has got then: compare. An answer is any message that says so; of a group each member must have given one. Rejects with the
 * signal's reason on abort.
 */
export async function awaitReceipts(
  {
    sent,
    team,
    asker,
  }: {
    readonly sent: Sent;
    readonly team: LocatedTeam;
    /** Needed to wait for answers. */
    readonly asker: Asker | undefined;
  },
  wanted: Awaitable,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Awaited> {
  const names = sent.deliveries.filter(({ outcome }) => outcome !== "failed").map(({ name }) => name);
  const isGroup = sent.to === "*" || isChannel(sent.to);
  const replies =
    wanted === "replied" && asker !== undefined
      ? await repliesTo(sent.id, { asker, names, isGroup, team }, timeoutMs, signal)
      : new Map<string, Message>();
  const receiptFor = (name: string): Promise<string> | string => {
    if (wanted === "stored") return "stored";
    if (wanted !== "replied")
      return receiptIn(mailboxOf(team.paths, name), sent.id, wanted, timeoutMs, signal);
    return replies.has(name)
      ? "replied"
      : receiptIn(mailboxOf(team.paths, name), sent.id, "stored", 0, signal);
  };
  const receipts = new Map(
    await Promise.all(names.map(async (name) => [name, await receiptFor(name)] as const)),
  );
  const [least = "none"] = [...receipts.values()].sort((a, b) => order.indexOf(a) - order.indexOf(b));
  return {
    wanted,
    reached: order.indexOf(least) >= order.indexOf(wanted),
    receipt: least,
    deliveries: sent.deliveries.map((delivery) => {
      const receipt = receipts.get(delivery.name);
      return receipt === undefined ? delivery : { ...delivery, receipt };
    }),
    ...(asker === undefined
      ? {}
      : { replies: [...replies.values()].map((reply) => received(reply, asker.team, asker.name)) }),
  };
}

const order: readonly string[] = ["none", "bad", "unknown", ...awaitable];

async function receiptIn(
  dir: string,
  id: string,
  wanted: AwaitedReceipt,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string> {
  try {
    return await waitForReceipt(dir, id, wanted, timeoutMs, signal);
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error;
    return "unknown"; // the mailbox went, or cannot be read: nothing is known any more
  }
}

/** The first answer of each name, until all have answered or the time is over. They are only looked at. */
async function repliesTo(
  id: string,
  of: {
    readonly asker: Asker;
    readonly names: readonly string[];
    readonly isGroup: boolean;
    readonly team: LocatedTeam;
  },
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Map<string, Message>> {
  const dir = mailboxOf(of.asker.team.paths, of.asker.name);
  const replies = new Map<string, Message>();
  const read = new Set<string>();
  const deadline = Date.now() + timeoutMs;
  for (let pause = 5; ; pause = Math.min(pause * 1.5, 100)) {
    signal.throwIfAborted();
    const { messages } = peekMailbox(dir, mailRooms, (other) => !read.has(other));
    for (const { message } of messages) {
      read.add(message.id);
      if (message.inReplyTo !== id) continue;
      const name = of.isGroup ? of.names.find((each) => isFrom(message, each, of.team)) : of.names[0];
      if (name !== undefined && !replies.has(name)) replies.set(name, message);
    }
    const left = deadline - Date.now();
    if (replies.size === of.names.length || left <= 0) return replies;
    await delay(Math.min(pause, left), signal);
  }
}

function isFrom(message: Message, name: string, { record }: LocatedTeam): boolean {
  const from = splitAddress(message.from);
  const inTeam = from.team === undefined || nameKey(from.team) === nameKey(record.name);
  return inTeam && nameKey(from.name) === nameKey(name);
}
