import { createHash } from "node:crypto";
import path from "node:path";
import { type MailProblem, type MailRoom, mailRooms, peekMailbox } from "../../mailbox/index.js";
import { isUnchanged, type Look, lookAt } from "../../mailbox/look.js";
import { messageOf, TroupeError } from "../util/errors.js";
import { nameKey } from "../util/name-key.js";
import { type ReceivedMessage, received } from "./inbox.js";
import { splitAddress } from "./keys.js";
import type { LocatedTeam } from "./locate.js";
import { readMembers } from "./records.js";
import { mailboxOf } from "./send.js";

/** A message as a team sees it: once, in however many mailboxes it is. */
export interface TeamMessage {
  readonly message: ReceivedMessage;
  /** In whose mailboxes it is, and how far it got there. */
  readonly recipients: readonly { readonly name: string; readonly receipt: MailReceipt }[];
  /** The least of them. */
  readonly receipt: MailReceipt;
}

export type MailReceipt = "stored" | "delivered" | "seen";

/** What went wrong with the mailbox of `owner`: as a whole, or with one file in it. */
export type TeamMailProblem =
  | { readonly owner: string; readonly file: MailProblem }
  | { readonly owner: string; readonly trouble: string };

/** A look at the mail of several mailboxes, which takes none. */
export interface TeamMail {
  /** What has come since the last call, in the order of its times; a message is given once. Problems are given once, too. */
  news(): { readonly messages: readonly TeamMessage[]; readonly problems: readonly TeamMailProblem[] };
  /** The mailboxes that it looks at, by owner; it grows as members join. */
  readonly owners: ReadonlyMap<string, string>;
}

/**
 * The mail of the whole team, or with one name all that is to or from that member, or with two what is between them. Who it is
 * from is judged by what it says, so that what falsely says so is seen, too, as `external:`.
 */
export function openTeamMail(team: LocatedTeam, between: readonly string[]): TeamMail {
  const owners = new Map<string, string>();
  const known = new Set<string>();
  const given = new Set<string>();
  const seen = new Map<string, Look | undefined>();
  const told = new Set<string>();
  const concerns = filterOf(team, between);

  function look(owner: string, dir: string, onProblem: (problem: TeamMailProblem) => void): Found[] {
    const rooms = mailRooms.filter((room) => {
      const directory = path.join(dir, room);
      const now = lookAt(directory);
      const same = isUnchanged(seen.get(directory), now);
      seen.set(directory, now);
      return !same;
    });
    const lookAgain = (): void => rooms.forEach((room) => void seen.delete(path.join(dir, room)));
    try {
      const peek = peekMailbox(dir, rooms, (id) => !known.has(`${owner} ${id}`));
      for (const file of peek.problems) onProblem({ owner, file });
      if (peek.problems.some(({ type }) => type === "unreadable")) lookAgain();
      return peek.messages.flatMap(({ message, room }) => {
        known.add(`${owner} ${message.id}`);
        if (!concerns(owner, message.from)) return [];
        return { owner, receipt: receipts[room], message: received(message, team, owner) };
      });
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error;
      lookAgain();
      onProblem({ owner, trouble: messageOf(error) });
      return [];
    }
  }

  return {
    owners,
    news() {
      const problems: TeamMailProblem[] = [];
      const onProblem = (problem: TeamMailProblem): void => {
        const key = JSON.stringify(problem);
        if (!told.has(key)) problems.push(problem);
        told.add(key);
      };
      for (const { name } of readMembers(team.paths))
        if (between.length < 2 || concernsOwner(name, between)) owners.set(name, mailboxOf(team.paths, name));
      const found = [...owners].flatMap(([owner, dir]) => look(owner, dir, onProblem));
      const messages = together(found).filter(({ message }) => {
        const meaning = meaningOf(message);
        const isNew = !given.has(meaning);
        given.add(meaning);
        return isNew;
      });
      return { messages, problems };
    },
  };
}

interface Found {
  readonly owner: string;
  readonly receipt: MailReceipt;
  readonly message: ReceivedMessage;
}

const receipts: Readonly<Record<MailRoom, MailReceipt>> = { new: "stored", cur: "delivered", done: "seen" };

const order: readonly MailReceipt[] = ["stored", "delivered", "seen"];

function filterOf(team: LocatedTeam, between: readonly string[]): (owner: string, from: string) => boolean {
  const [a, b] = between;
  const isFrom = (claimed: string, name: string): boolean => {
    const from = splitAddress(claimed);
    const here = from.team === undefined || nameKey(from.team) === nameKey(team.record.name);
    return here && nameKey(from.name) === nameKey(name);
  };
  return (owner, from) => {
    if (a === undefined) return true;
    if (b === undefined) return owner === a || isFrom(from, a);
    return (owner === a && isFrom(from, b)) || (owner === b && isFrom(from, a));
  };
}

function concernsOwner(name: string, between: readonly string[]): boolean {
  return between.some((each) => nameKey(each) === nameKey(name));
}

/** Copies of one message as one, in the order of their times. */
function together(found: readonly Found[]): TeamMessage[] {
  const groups = new Map<string, Found[]>();
  for (const one of found) {
    const meaning = meaningOf(one.message);
    const group = groups.get(meaning);
    if (group === undefined) groups.set(meaning, [one]);
    else group.push(one);
  }
  return [...groups.values()].flatMap((group) => teamMessage(group) ?? []).sort(byTime);
}

function teamMessage(group: readonly Found[]): TeamMessage | undefined {
  const [first] = group;
  if (first === undefined) return undefined;
  const recipients = group.map(({ owner: name, receipt }) => ({ name, receipt }));
  const least = Math.min(...recipients.map(({ receipt }) => order.indexOf(receipt)));
  return { message: first.message, recipients, receipt: order[least] ?? "stored" };
}

function byTime(a: TeamMessage, b: TeamMessage): number {
  const apart = Date.parse(a.message.sentAt) - Date.parse(b.message.sentAt);
  return apart !== 0 ? apart : a.message.id < b.message.id ? -1 : 1;
}

/** What is the same for two that are one message: a broadcast that was repeated differs in the time and the seal over it. */
function meaningOf({ sentAt, seal, ...rest }: ReceivedMessage): string {
  return createHash("sha256").update(JSON.stringify(rest, inOrder)).digest("base64");
}

/** The fields of an object in one order, however they came. */
function inOrder(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
