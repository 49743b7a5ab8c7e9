import type { Message } from "../../mailbox/message.js";
import { type AwaitedReceipt, waitForReceipt, waitForReplies } from "../../mailbox/receipts.js";
import { errnoOf, messageOf, TroupeError } from "../util/errors.js";
import { nameKey } from "../util/name-key.js";
import { oneLine } from "../util/text.js";
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
  /** The answers that count, where they were waited for, in the order of the deliveries. */
  readonly replies?: readonly ReceivedMessage[];
  /** What the sender should know about the wait: of answers that do not count, and of a mailbox that could not be read. */
  readonly notes?: readonly string[];
}

/** Whose mailbox the answers come to, and the team that it belongs to. */
export interface Asker {
  readonly name: string;
  readonly team: LocatedTeam;
}

/**
 * Waits until all to whom `sent` was stored have got at least as far as `wanted`, at most `timeoutMs`, and tells how far each
 * has got then: compare. An answer counts where its seal proves that it is from one who was asked; of a group each member must
 * have given one. Rejects with the signal's reason on abort.
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
  const { replies, notes } =
    wanted === "replied" && asker !== undefined
      ? await repliesTo(sent.id, { asker, names, team }, timeoutMs, signal)
      : { replies: new Map<string, ReceivedMessage>(), notes: [] };
  const maybe = new Set(sent.deliveries.filter(({ outcome }) => outcome === "maybe").map(({ name }) => name));
  const receiptFor = (name: string): Promise<string> | string => {
    if (wanted === "stored") return maybe.has(name) ? "unknown" : "stored";
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
    reached: isReached(least, wanted),
    receipt: least,
    deliveries: sent.deliveries.map((delivery) => {
      const receipt = receipts.get(delivery.name);
      return receipt === undefined ? delivery : { ...delivery, receipt };
    }),
    ...(asker === undefined ? {} : { replies: names.flatMap((name) => replies.get(name) ?? []), notes }),
  };
}

/** Whether a receipt is at least what was waited for. */
export function isReached(receipt: string, wanted: Awaitable): boolean {
  return order.indexOf(receipt) >= order.indexOf(wanted);
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

interface Asked {
  readonly asker: Asker;
  readonly names: readonly string[];
  readonly team: LocatedTeam;
}

/**
 * The first answer of each name, until all have answered or the time is over, and what else is to be told. A mailbox that cannot
 * be read gives no more answers, but the message is stored, so that this is no failure.
 */
async function repliesTo(
  id: string,
  asked: Asked,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<{ readonly replies: ReadonlyMap<string, ReceivedMessage>; readonly notes: readonly string[] }> {
  const { asker, names } = asked;
  const replies = new Map<string, ReceivedMessage>();
  const others = new Map<string, string>();
  const judged = new Set<Message>();
  const sort = (message: Message): void => {
    const reply = senderKnown(message, asker);
    if (judged.has(message) || reply === undefined) return;
    judged.add(message);
    const name = names.find((each) => isFrom(reply.sender, each, asked));
    if (name === undefined) others.set(message.id, oneLine(reply.sender, 80));
    else if (!replies.has(name)) replies.set(name, reply);
  };
  const isEnough = (messages: readonly Message[]): boolean => {
    messages.forEach(sort);
    return replies.size === names.length;
  };
  const notes: string[] = [];
  try {
    await waitForReplies(mailboxOf(asker.team.paths, asker.name), id, isEnough, timeoutMs, signal);
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error;
    notes.push(`answers cannot be looked for: ${messageOf(error)}`);
  }
  for (const [other, from] of others)
    notes.push(
      `the answer #${other} is from ${from} and does not count: nothing proves that it is from one who was asked`,
    );
  return { replies, notes };
}

/** The message with who it is from, or undefined where that cannot be told just now. */
function senderKnown(message: Message, { team, name }: Asker): ReceivedMessage | undefined {
  try {
    return received(message, team, name);
  } catch (error) {
    if (error instanceof TroupeError || errnoOf(error) !== undefined) return undefined;
    throw error;
  }
}

/** Whether a proven sender is the member `name` of the team that was written to; the user is the same in all teams. */
function isFrom(sender: string, name: string, { asker, team }: Asked): boolean {
  const from = splitAddress(sender);
  if (nameKey(from.name) !== nameKey(name)) return false;
  return (
    nameKey(name) === "user" || nameKey(from.team ?? asker.team.record.name) === nameKey(team.record.name)
  );
}
