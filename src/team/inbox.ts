import type { Message } from "../../mailbox/message.js";
import { nameKey } from "../util/name-key.js";
import { trustedSender } from "./keys.js";
import type { LocatedTeam } from "./locate.js";
import type { TeamPaths } from "./paths.js";
import { mailboxOf, memberNamed } from "./send.js";

/** A mailbox as one reader sees it. */
export interface Inbox {
  /** As the member's record spells it. */
  readonly owner: string;
  /** Whether it is the reader's own: only then is mail taken and marked as seen. */
  readonly own: boolean;
  readonly dir: string;
}

/** A message with who it is really from: a verified name, or `external:` and the name it claims. */
export type ReceivedMessage = Message & { readonly sender: string };

/**
 * The mailbox that `name` means to `reader`; without a name the reader's own. Throws TroupeError `no-member` with the
 * nearest name.
 */
export function inboxOf(
  team: LocatedTeam,
  reader: { readonly name: string; readonly team?: string },
  name?: string,
): Inbox {
  const owner = memberNamed(team, name ?? reader.name);
  const home = reader.team === undefined || nameKey(reader.team) === nameKey(team.record.name);
  return { owner, own: home && nameKey(owner) === nameKey(reader.name), dir: mailboxOf(team.paths, owner) };
}

export function received(message: Message, paths: TeamPaths): ReceivedMessage {
  return { ...message, sender: trustedSender(message, paths) };
}
