import fs from "node:fs";
import path from "node:path";
import { descriptionFile } from "../../mailbox/layout.js";
import { type Message, newMessageId } from "../../mailbox/message.js";
import { openRouter } from "../../mailbox/router.js";
import { sealMessage } from "../../mailbox/seal.js";
import { messageOf, TroupeError } from "../util/errors.js";
import { encodeKey, fileNameOf, maxEncodedKeyBytes, nameKey } from "../util/name-key.js";
import type { Sender } from "./keys.js";
import type { LocatedTeam } from "./locate.js";
import { nearest } from "./nearest.js";
import type { TeamPaths } from "./paths.js";
import { readMember, readMembers, type TeamRecord } from "./records.js";
import { hostStatus, memberState } from "./status.js";

/** What to send, and to whom: a member's name, `lead`, `user`, or `*` for everybody but the sender. */
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

/** How the sending to one member went. */
export interface Delivery {
  /** As the member's record spells it. */
  readonly name: string;
  readonly outcome: "stored" | "duplicate" | "failed";
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
 * Stores a letter durably in its recipient's mailbox, or in everybody's for `*`; blocking, since the process that does it
 * has nothing else to do. Throws TroupeError `no-member` (kind `not-found`, with the nearest name) before anything is written,
 * and for a single recipient what the mailbox throws.
 */
export function sendLetter(team: LocatedTeam, sender: Sender, letter: Letter): Sent {
  const { paths, record } = team;
  const from = senderName(sender, record);
  const recipients = recipientsOf(team, from, letter.to);
  const notes = new Map(recipients.map((name) => [name, absence(paths, name)]));
  if (letter.requireRunning) requireRunning(notes);
  const message = sealed(sender, {
    v: 1,
    id: letter.id ?? newMessageId(),
    from,
    to: letter.to === "*" ? "*" : (recipients[0] ?? letter.to),
    sentAt: new Date().toISOString(),
    kind: "text",
    ...(letter.summary === undefined ? {} : { summary: letter.summary }),
    text: letter.text,
    ...(letter.inReplyTo === undefined ? {} : { inReplyTo: letter.inReplyTo }),
  });
  const { id, to } = message;
  return { id, from, to, deliveries: deliver(paths, recipients, message, notes) };
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
function senderName(sender: Sender, record: TeamRecord): string {
  const foreign = sender.team !== undefined && nameKey(sender.team) !== nameKey(record.name);
  return foreign ? `${sender.name}@${sender.team}` : sender.name;
}

function recipientsOf(team: LocatedTeam, from: string, to: string): string[] {
  if (to !== "*") return [memberNamed(team, to)];
  const names = readMembers(team.paths).map((member) => member.name);
  return names.filter((name) => nameKey(name) !== nameKey(from));
}

function sealed(sender: Sender, message: Message): Message {
  return sender.privateKey === undefined ? message : sealMessage(message, sender.privateKey);
}

function deliver(
  paths: TeamPaths,
  recipients: readonly string[],
  message: Message,
  notes: ReadonlyMap<string, string | undefined>,
): Delivery[] {
  const router = openRouter(paths.mail);
  const noted = (name: string) => {
    const note = notes.get(name);
    return note === undefined ? {} : { note };
  };
  const [first, ...others] = recipients;
  if (first !== undefined && others.length === 0 && message.to !== "*") {
    const { duplicate } = router.deliverSync(first, message);
    return [{ name: first, outcome: duplicate ? "duplicate" : "stored", ...noted(first) }];
  }
  return router.broadcastSync(recipients, message).map((outcome) =>
    outcome.ok
      ? { name: outcome.name, outcome: outcome.duplicate ? "duplicate" : "stored", ...noted(outcome.name) }
      : {
          name: outcome.name,
          outcome: "failed",
          note: `not stored for ${outcome.name}: ${messageOf(outcome.error)}`,
        },
  );
}

function requireRunning(notes: ReadonlyMap<string, string | undefined>): void {
  const absent = [...notes.values()].filter((note) => note !== undefined);
  if (absent.length === 0) return;
  throw new TroupeError("not-running", `not sent: ${absent.join("; ")}`, {
    kind: "not-reached",
    remedy: "start it (troupe up, troupe spawn), or send without --require-running: the message then waits",
  });
}

/** Why nobody reads this member's mail now, or undefined where somebody does. */
export function absence(paths: TeamPaths, name: string): string | undefined {
  const member = readMember(paths, name);
  if (member === undefined || member.kind === "user") return undefined;
  const state = memberState(member, hostStatus(paths));
  return state.state === "ended"
    ? `${member.name} has ended (${howEnded(state)}); its mail waits`
    : undefined;
}

function howEnded(state: { readonly reason?: string; readonly detail?: string }): string {
  return [state.reason ?? "ended", state.detail].filter(Boolean).join(": ");
}
