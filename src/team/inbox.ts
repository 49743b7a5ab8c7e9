import type { Message } from "../../mailbox/message.js";
import { nameKey } from "../util/name-key.js";
import type { LocatedTeam } from "./locate.js";
import { mailboxOf, memberNamed } from "./send.js";
import { trustedSender } from "./trusted-sender.js";

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

/** A message in the mailbox of `owner`, with who it is really from. */
export function received(message: Message, team: LocatedTeam, owner: string): ReceivedMessage {
  return { ...message, sender: trustedSender(message, team, owner) };
}

/** What a message says: its text, or where it has none its other fields as JSON. */
export function bodyOf(message: ReceivedMessage): string {
  if (message.text !== undefined) return message.text;
  const { v, id, from, to, team, sentAt, kind, summary, inReplyTo, seal, sender, ...rest } = message;
  return Object.keys(rest).length === 0 ? "" : JSON.stringify(rest);
}
