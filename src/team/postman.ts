import type { KeyObject } from "node:crypto";
import { type Mailbox, type Message, newMessageId, openMailbox, sealMessage } from "../../mailbox/index.js";
import { nameKey } from "../util/name-key.js";
import type { LocatedTeam } from "./locate.js";
import { readMember, readMembers } from "./records.js";
import { mailboxOf, memberNamed } from "./send.js";

/** What goes into a message besides its addresses, id and time. Other fields are kind-specific. */
export interface Mail {
  readonly kind: string;
  readonly text?: string;
  readonly summary?: string;
  readonly inReplyTo?: string;
  readonly [field: string]: unknown;
}

/** One stored message. */
export interface Posted {
  readonly to: string;
  readonly id: string;
  /** Why nobody may read it soon, in one phrase; undefined where somebody will. */
  readonly note?: string;
}

/** Sends sealed mail as one member for as long as a process lives, without blocking it. */
export interface Postman {
  /** The member that an address means, spelt as in its record. Throws TroupeError `no-member` with the nearest name. */
  resolve(to: string): string;
  /** Stores a message for a member, or for everybody but the sender with `*`; in the order of the calls. */
  send(to: string, mail: Mail): Promise<readonly Posted[]>;
}

export function createPostman(options: {
  readonly team: LocatedTeam;
  readonly from: string;
  readonly privateKey: KeyObject;
}): Postman {
  const { team, from, privateKey } = options;
  const mailboxes = new Map<string, Mailbox>();
  // One per recipient for the life of the sender: what is sent through it arrives in that order.
  const mailboxFor = (name: string): Mailbox => {
    const open = mailboxes.get(name) ?? openMailbox(mailboxOf(team.paths, name));
    mailboxes.set(name, open);
    return open;
  };
  const recipients = (to: string): string[] => {
    if (to !== "*") return [memberNamed(team, to)];
    const names = readMembers(team.paths).map(({ name }) => name);
    return names.filter((name) => nameKey(name) !== nameKey(from));
  };
  return {
    resolve: (to) => (to === "*" ? to : memberNamed(team, to)),
    send: (to, mail) =>
      Promise.all(
        recipients(to).map(async (name) => {
          const message: Message = {
            v: 1,
            id: newMessageId(),
            from,
            to: to === "*" ? to : name,
            sentAt: new Date().toISOString(),
            ...mail,
          };
          await mailboxFor(name).send(sealMessage(message, privateKey));
          const note = absence(team, name);
          return { to: name, id: message.id, ...(note === undefined ? {} : { note }) };
        }),
      ),
  };
}

function absence(team: LocatedTeam, name: string): string | undefined {
  const member = readMember(team.paths, name);
  if (member?.state === "ended") return `${name} has ended; its mail waits`;
  return member?.kind === "command" ? `${name} is a command and reads mail only by troupe inbox` : undefined;
}
