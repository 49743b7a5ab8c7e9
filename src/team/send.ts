import fs from "node:fs";
import path from "node:path";
import { descriptionFile } from "../../mailbox/layout.js";
import { type Message, newMessageId } from "../../mailbox/message.js";
import { type Outcome, openRouter } from "../../mailbox/router.js";
import { sealMessage } from "../../mailbox/seal.js";
import { TroupeError } from "../util/errors.js";
import { encodeKey, fileNameOf, maxEncodedKeyBytes, nameKey } from "../util/name-key.js";
import { channelAt, channelsOf, isChannel } from "./channels.js";
import type { Sender } from "./keys.js";
import type { LocatedTeam } from "./locate.js";
import { nearest } from "./nearest.js";
import type { TeamPaths } from "./paths.js";
import { type MemberRecord, readMember, readMembers, type TeamRecord } from "./records.js";
import { type HostStatus, hostStatus, memberState } from "./status.js";

/** What to send, and to whom: a member's name, `lead`, `user`, `#channel`, or `*` for everybody but the sender. */
export interface Letter {
  readonly to: string;
  readonly text: string;
  readonly summary?: string | undefined;
  readonly inReplyTo?: string | undefined;
  /** Makes a repeat harmless: the same id is stored once. Default: a new one. */
  readonly id?: string | undefined;
  /** Refuse (TroupeError `not-running`, kind `not-reached`) where nobody is there to read it now. */
  readonly requireRunning?: boolean;
}

/** Whom an address within a team means. */
export interface Addressees {
  /** As it stands in the message: a member's name as its record spells it, `*`, or a channel as the team file spells it. */
  readonly to: string;
  /** Who gets it. */
  readonly names: readonly string[];
  /** Whether it is meant for several, each of whom is told of apart, also if it is one or none. */
  readonly isGroup: boolean;
  /** What is recorded of them, as far as it had to be read. */
  readonly records: readonly MemberRecord[];
}

/** How the sending to one member went. */
export interface Delivery {
  /** As the member's record spells it; the address, where that is a socket's. */
  readonly name: string;
  /** `maybe`: it is in the mailbox, but a crash of the machine may still take it out. */
  readonly outcome: "stored" | "duplicate" | "maybe" | "failed";
  /** What the sender should know although it was stored, or why it failed; one line that names the member. */
  readonly note?: string;
}

export interface Sent {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly deliveries: readonly Delivery[];
}

/**
 * Stores a letter durably in the mailbox of each addressee; blocking, since the process that does it has nothing else to do.
 * Throws what {@link addressees} does, before anything is written, TroupeError `not-running` where the letter asks for it, and
 * for a single recipient what the mailbox throws. A letter repeated with its id reaches only those whom it had not reached.
 */
export function sendLetter(team: LocatedTeam, sender: Sender, letter: Letter): Sent {
  return storeSync(team, postOf(team, sender, letter));
}

/**
 * As {@link sendLetter}, but what goes to many is stored for several of them at a time, not for one after the other. `whom` is
 * what the letter's address means, where that is known already.
 */
export async function sendLetterAtOnce(
  team: LocatedTeam,
  sender: Sender,
  letter: Letter,
  whom?: Addressees,
): Promise<Sent> {
  const post = postOf(team, sender, letter, whom);
  if (post.names.length <= few) return storeSync(team, post);
  return sentTo(post, await openRouter(team.paths.mail).broadcast(post.names, post.message));
}

/**
 * Whom `address` means: a member's name, `lead`, `user`, `*` for everybody but the sender `from`, `#name` for the members of a
 * channel but the sender. Throws TroupeErrors of kind `not-found`: `no-member` and `no-channel` with the nearest name, `nobody`
 * where that leaves nobody.
 */
export function addressees(team: LocatedTeam, from: string, address: string): Addressees {
  const records = address === "*" ? readMembers(team.paths) : [];
  const all = isChannel(address)
    ? channelNamed(team.record, address)
    : { address, members: address === "*" ? records.map(({ name }) => name) : undefined };
  if (all.members === undefined) {
    const name = memberNamed(team, address);
    return { to: name, names: [name], isGroup: false, records };
  }
  const names = all.members.filter((name) => nameKey(name) !== nameKey(from));
  if (names.length > 0) return { to: all.address, names, isGroup: true, records };
  throw new TroupeError("nobody", `nobody but ${from} is in ${groupWords(all.address, team.record)}`, {
    kind: "not-found",
    remedy: "see who is there: troupe status",
  });
}

/** A letter as a message from `from` to `to` in the team with the directory `team`, sealed where the sender has a key. */
export function messageOfLetter(
  sender: Sender,
  from: string,
  to: string,
  letter: Letter,
  team?: string,
): Message {
  return sealed(sender, {
    v: 1,
    id: letter.id ?? newMessageId(),
    from,
    to,
    // A seal proves nothing outside of the team that it was made for.
    ...(team === undefined ? {} : { team }),
    sentAt: new Date().toISOString(),
    kind: "text",
    ...(letter.summary === undefined ? {} : { summary: letter.summary }),
    text: letter.text,
    ...(letter.inReplyTo === undefined ? {} : { inReplyTo: letter.inReplyTo }),
  });
}

/** The mailbox directory of a member. */
export function mailboxOf(paths: TeamPaths, name: string): string {
  return path.join(paths.mail, fileNameOf(name));
}

/**
 * The member that a name means, as its record spells it; `lead` is the user where the user leads. Throws TroupeError
 * `no-member` (kind `not-found`) with the nearest name.
 */
export function memberNamed({ paths, record }: LocatedTeam, name: string): string {
  const key = nameKey(name);
  const wanted = key === "lead" && record.lead === "user" ? "user" : name;
  if (encodeKey(key).length <= maxEncodedKeyBytes) {
    const member = readMember(paths, wanted);
    if (member !== undefined) return member.name;
    // A member that is just joining has its mailbox before its record.
    if (fs.existsSync(path.join(mailboxOf(paths, wanted), descriptionFile))) return wanted;
  }
  const names = readMembers(paths).map((member) => member.name);
  const near = nearest(name, [...names, "lead"]);
  throw new TroupeError("no-member", `no member named ${JSON.stringify(name)} in team ${record.name}`, {
    kind: "not-found",
    remedy: near === undefined ? `members: ${names.join(", ")}` : `did you mean ${near}?`,
  });
}

/** The name that a sender has towards a team: a teammate of another team carries that team's name. */
export function senderName(sender: Pick<Sender, "name" | "team">, record: TeamRecord): string {
  const foreign = sender.team !== undefined && nameKey(sender.team) !== nameKey(record.name);
  return foreign ? `${sender.name}@${sender.team}` : sender.name;
}

/** For so many the threads that store several at a time cost more than they save. */
const few = 4;

/** A letter that is ready to be stored. */
interface Post {
  readonly message: Message;
  readonly names: readonly string[];
  readonly isGroup: boolean;
  readonly notes: ReadonlyMap<string, string | undefined>;
}

function postOf(team: LocatedTeam, sender: Sender, letter: Letter, whom?: Addressees): Post {
  const { paths, record } = team;
  const from = senderName(sender, record);
  const { to, names, isGroup, records } = whom ?? addressees(team, from, letter.to);
  const known = new Map(records.map((member) => [member.name, member]));
  const memberOf = (name: string): MemberRecord | undefined => known.get(name) ?? readMember(paths, name);
  const host = hostOnce(paths);
  if (letter.requireRunning) requireRunning(names.map((name) => absence(memberOf(name), host)));
  const notes = new Map(names.map((name) => [name, noteOn(memberOf(name), host)]));
  return { message: messageOfLetter(sender, from, to, letter, paths.dirName), names, isGroup, notes };
}

function storeSync(team: LocatedTeam, post: Post): Sent {
  const { names, message, isGroup } = post;
  const router = openRouter(team.paths.mail);
  if (isGroup) return sentTo(post, router.broadcastSync(names, message));
  const [name = ""] = names;
  const { duplicate } = router.deliverSync(name, message);
  return sentTo(post, [{ name, ok: true, duplicate }]);
}

function sentTo({ message: { id, from, to }, notes }: Post, outcomes: readonly Outcome[]): Sent {
  const deliveries = outcomes.map((outcome): Delivery => {
    const { name } = outcome;
    if (!outcome.ok) return { name, ...failure(name, outcome.error) };
    const note = notes.get(name);
    return {
      name,
      outcome: outcome.duplicate ? "duplicate" : "stored",
      ...(note === undefined ? {} : { note }),
    };
  });
  return { id, from, to, deliveries };
}

function channelNamed(record: TeamRecord, address: string) {
  const channel = channelAt(record, address);
  if (channel !== undefined) return channel;
  const names = channelsOf(record).map((known) => known.address);
  const near = nearest(address, names);
  const known =
    names.length === 0 ? "name one in the team file, under channels" : `channels: ${names.join(", ")}`;
  throw new TroupeError("no-channel", `no channel ${JSON.stringify(address)} in team ${record.name}`, {
    kind: "not-found",
    remedy: near === undefined ? known : `did you mean ${near}?`,
  });
}

function groupWords(address: string, { name }: TeamRecord): string {
  return address === "*" ? `team ${name}` : `${address} of team ${name}`;
}

function sealed(sender: Sender, message: Message): Message {
  return sender.privateKey === undefined ? message : sealMessage(message, sender.privateKey);
}

function requireRunning(absences: readonly (string | undefined)[]): void {
  const absent = absences.filter((note) => note !== undefined);
  if (absent.length === 0) return;
  throw new TroupeError("not-running", `not sent: ${absent.join("; ")}`, {
    kind: "not-reached",
    remedy: "start it (troupe up, troupe spawn), or send without --require-running: the message then waits",
  });
}

/** How it is told that a group's message was not stored for one of it; `shown` is what the sender calls that one. */
export function failure(
  shown: string,
  error: TroupeError,
): { readonly outcome: "maybe" | "failed"; readonly note: string } {
  return error.code === "maybe-stored"
    ? { outcome: "maybe", note: `maybe stored for ${shown}: ${error.message}; ${error.remedy}` }
    : { outcome: "failed", note: `not stored for ${shown}: ${error.message}` };
}

/** The state of a team's host, looked at once, and only if it is asked for. */
export function hostOnce(paths: TeamPaths): () => HostStatus {
  let status: HostStatus | undefined;
  return () => {
    status ??= hostStatus(paths);
    return status;
  };
}

/** Why nobody may read this member's mail soon, or undefined where somebody does. */
export function noteOn(member: MemberRecord | undefined, host: () => HostStatus): string | undefined {
  const readsByInbox = member?.kind === "command" && member.input === undefined;
  return (
    absence(member, host) ??
    (readsByInbox ? `${member.name} is a command and reads mail only by troupe inbox` : undefined)
  );
}

/** Why nobody reads this member's mail now, or undefined where somebody does. */
function absence(member: MemberRecord | undefined, host: () => HostStatus): string | undefined {
  if (member === undefined || member.kind === "user") return undefined;
  const state = memberState(member, host());
  return state.state === "ended"
    ? `${member.name} has ended (${howEnded(state)}); its mail waits`
    : undefined;
}

function howEnded(state: { readonly reason?: string; readonly detail?: string }): string {
  return [state.reason ?? "ended", state.detail].filter(Boolean).join(": ");
}
