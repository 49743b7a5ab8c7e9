import fs from "node:fs";
import path from "node:path";
import { createMailbox, laneOf, type Message, openRouter, peekMailbox } from "../../mailbox/index.js";
import { messageOf, TroupeError } from "../util/errors.js";
import { fileNameOf, nameKey } from "../util/name-key.js";
import type { LocatedTeam } from "./locate.js";
import { mailboxOf } from "./send.js";
import { trustedSender } from "./trusted-sender.js";

/** What became of the unread mail of an ended team. */
export interface Carried {
  /** How many messages the new team has now, too. */
  readonly carried: number;
  /** How many are in the ended team's files alone. */
  readonly left: number;
  /** Why some could not be carried over, a line each. */
  readonly troubles: readonly string[];
}

/**
 * Stores in a new team, before it runs, what the person has not read of the ended team's mail in the directory `archived`, and what
 * the person wrote to `members` that had not read it. What members wrote to each other was about work that is over. All
 * stays in `archived` as well. What cannot be read or stored is told, and keeps no team from its start.
 */
export async function carryMail(
  archived: string,
  team: LocatedTeam,
  members: readonly string[],
): Promise<Carried> {
  const names = new Map(["user", ...members].map((name) => [fileNameOf(name), name]));
  const router = openRouter(team.paths.mail);
  const troubles: string[] = [];
  let [carried, left] = [0, 0];
  for (const box of openRouter(archived).names().map(fileNameOf)) {
    const name = names.get(box);
    try {
      const { messages, problems } = peekMailbox(path.join(archived, box), ["new", "cur"]);
      left += messages.length + problems.length;
      if (name === undefined) continue;
      for (const { message } of messages.filter(({ message }) => isWanted(message, team, name))) {
        if (!fs.existsSync(mailboxOf(team.paths, name))) await createMailbox(mailboxOf(team.paths, name));
        await router.deliver(name, message);
        carried++;
        left--;
      }
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error;
      troubles.push(messageOf(error));
    }
  }
  return { carried, left, troubles };
}

function isWanted(message: Message, team: LocatedTeam, owner: string): boolean {
  if (nameKey(owner) === "user") return true;
  return laneOf(message) === "text" && trustedSender(message, team, owner) === "user";
}
