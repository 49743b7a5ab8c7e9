import type { KeyObject } from "node:crypto";
import { type Message, newMessageId, openRouter, type Router, sealMessage } from "../../mailbox/index.js";
import { nameKey } from "../util/name-key.js";
import { type Channel, channelsOf } from "./channels.js";
import { splitAddress } from "./keys.js";
import { type LocatedTeam, locateTeam } from "./locate.js";
import { readMember } from "./records.js";
import { type Addressees, addressees, failure, hostOnce, noteOn } from "./send.js";
import { socketOf } from "./uds-address.js";
import { sendToSocket } from "./uds-send.js";

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
  /** False only for some recipients of a broadcast, for whom it was not stored or only maybe; `note` then says why. */
  readonly stored: boolean;
  /** Why nobody may read it soon, in one phrase; undefined where somebody will. */
  readonly note?: string;
}

/** Sends sealed mail as one member for as long as a process lives, without blocking it. */
export interface Postman {
  /** The channels of the team. */
  readonly channels: readonly Channel[];
  /**
   * What an address means, spelt as in the records: a member (`name@team` in another team), `*`, `#channel`, or a socket's
   * `uds:/path.sock`. Throws TroupeErrors of kind `not-found` with the nearest name, and `bad-address`.
   */
  resolve(to: string): string;
  /**
   * Stores a message for whom an address means; in the order of the calls. Rejects with what the mailbox throws, for a group only
   * if it was stored for nobody, and as `sendToSocket`. The signal ends only the waiting for a socket's answer.
   */
  send(to: string, mail: Mail, signal?: AbortSignal): Promise<readonly Posted[]>;
}

/** How long the listener at a socket has for its answer. */
const socketAnswerMs = 10_000;

export function createPostman(options: {
  readonly team: LocatedTeam;
  readonly from: string;
  readonly privateKey: KeyObject;
}): Postman {
  const { team, from, privateKey } = options;
  // The user belongs to all teams.
  const fullName = nameKey(from) === "user" ? from : `${from}@${team.record.name}`;
  // One for the life of the sender: what is sent through it to one recipient arrives in that order.
  const routers = new Map<string, Router>();
  const routerOf = ({ paths }: LocatedTeam): Router => {
    const router = routers.get(paths.mail) ?? openRouter(paths.mail);
    routers.set(paths.mail, router);
    return router;
  };
  const sealed = (addresses: Addresses, mail: Mail): Message =>
    sealMessage(
      { v: 1, id: newMessageId(), ...addresses, sentAt: new Date().toISOString(), ...mail },
      privateKey,
    );

  function destinationOf(address: string): Destination {
    const { name, team: other } = splitAddress(address);
    const own = other === undefined || nameKey(other) === nameKey(team.record.name);
    if (own) return { ...addressees(team, from, name), team, sender: from, shown: (each) => each };
    const { home } = team.paths;
    const located = locateTeam({ home, cwd: team.record.projectRoot, env: {}, team: other });
    const shown = (each: string) => `${each}@${located.record.name}`;
    return { ...addressees(located, fullName, name), team: located, sender: fullName, shown };
  }

  async function sendTo({ team: target, sender, to, names, isGroup, shown }: Destination, mail: Mail) {
    const message = sealed({ from: sender, to, team: target.paths.dirName }, mail);
    const host = hostOnce(target.paths);
    const stored = (name: string): Posted => {
      const note = noteOn(readMember(target.paths, name), host);
      return { to: shown(name), id: message.id, stored: true, ...(note === undefined ? {} : { note }) };
    };
    const [only = ""] = names;
    if (!isGroup) {
      await routerOf(target).deliver(only, message);
      return [stored(only)];
    }
    const outcomes = await routerOf(target).broadcast(names, message);
    const [first] = outcomes;
    if (first?.ok === false && outcomes.every(({ ok }) => !ok)) throw first.error;
    return outcomes.map((outcome): Posted => {
      const { name } = outcome;
      if (outcome.ok) return stored(name);
      const { note } = failure(shown(name), outcome.error);
      return { to: shown(name), id: message.id, stored: false, note };
    });
  }

  return {
    channels: channelsOf(team.record),
    resolve(to) {
      if (socketOf(to) !== undefined) return to;
      const destination = destinationOf(to);
      return destination.shown(destination.to);
    },
    async send(to, mail, signal) {
      const socket = socketOf(to);
      if (socket === undefined) return sendTo(destinationOf(to), mail);
      const message = sealed({ from: fullName, to }, mail);
      await sendToSocket(socket, message, socketAnswerMs, signal);
      return [{ to, id: message.id, stored: true }];
    },
  };
}

interface Addresses {
  readonly from: string;
  readonly to: string;
  /** The directory name of the team that it is for; a seal proves nothing outside of it. */
  readonly team?: string;
}

interface Destination extends Addressees {
  readonly team: LocatedTeam;
  /** What the sender is called there. */
  readonly sender: string;
  /** What a name there is called here. */
  readonly shown: (name: string) => string;
}
