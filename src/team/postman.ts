import type { KeyObject } from "node:crypto";
import { type Message, newMessageId, openRouter, sealMessage } from "../../mailbox/index.js";
import { nameKey } from "../util/name-key.js";
import type { LocatedTeam } from "./locate.js";
import { readMember, readMembers } from "./records.js";
import { absence, memberNamed } from "./send.js";

/** What goes into a message besides its addresses, id and time. Other fields are kind-specific. */
export interface Mail {
  readonly kind: string;
  readonly text?: string;
  readonly summary?: string;
  readonly inReplyTo?: string;
  readonly [field: string]: unknown;
}

/** What became of a message for one recipient. */
export interface Posted {
  readonly to: string;
  readonly id: string;
  /** False only for some recipients of a broadcast; `note` then says why. */
  readonly stored: boolean;
  /** Why nobody may read it soon, in one phrase; undefined where somebody will. */
  readonly note?: string;
}

/** Sends sealed mail as one member for as long as a process lives, without blocking it. */
export interface Postman {
  /** The member that an address means, spelt as in its record. Throws TroupeError `no-member` with the nearest name. */
  resolve(to: string): string;
  /**
   * Stores a message for a member, or for everybody but the sender with `*`; in the order of the calls. Rejects with what
   * the mailbox throws, for `*` only if it was stored for nobody.
   */
  send(to: string, mail: Mail): Promise<readonly Posted[]>;
}

export function createPostman(options: {
  readonly team: LocatedTeam;
  readonly from: string;
  readonly privateKey: KeyObject;
}): Postman {
  const { team, from, privateKey } = options;
  // One for the life of the sender: what is sent through it to one recipient arrives in that order.
  const router = openRouter(team.paths.mail);
  const sealed = (to: string, mail: Mail): Message =>
    sealMessage(
      { v: 1, id: newMessageId(), from, to, sentAt: new Date().toISOString(), ...mail },
      privateKey,
    );
  const stored = (name: string, { id }: Message): Posted => {
    const note = noteOn(team, name);
    return { to: name, id, stored: true, ...(note === undefined ? {} : { note }) };
  };

  async function broadcast(mail: Mail): Promise<readonly Posted[]> {
    const names = readMembers(team.paths).map(({ name }) => name);
    const others = names.filter((name) => nameKey(name) !== nameKey(from));
    const message = sealed("*", mail);
    const outcomes = await router.broadcast(others, message);
    const [first] = outcomes;
    if (first?.ok === false && outcomes.every(({ ok }) => !ok)) throw first.error;
    return outcomes.map((outcome) =>
      outcome.ok
        ? stored(outcome.name, message)
        : {
            to: outcome.name,
            id: message.id,
            stored: false,
            note: `not stored for ${outcome.name}: ${outcome.error.message}`,
          },
    );
  }

  return {
    resolve: (to) => (to === "*" ? to : memberNamed(team, to)),
    async send(to, mail) {
      if (to === "*") return broadcast(mail);
      const name = memberNamed(team, to);
      const message = sealed(name, mail);
      await router.deliver(name, message);
      return [stored(name, message)];
    },
  };
}

function noteOn({ paths }: LocatedTeam, name: string): string | undefined {
  const isCommand = readMember(paths, name)?.kind === "command";
  return (
    absence(paths, name) ??
    (isCommand ? `${name} is a command and reads mail only by troupe inbox` : undefined)
  );
}
