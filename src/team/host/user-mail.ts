import { type MailboxWatcher, mailRooms, peekMailbox, watchMailbox } from "../../../mailbox/index.js";
import { messageOf } from "../../util/errors.js";
import { oneLine } from "../../util/text.js";
import { trustedSender } from "../keys.js";
import { mailboxOf } from "../send.js";
import type { HostContext } from "./context.js";

/**
 * Tells the team's viewers about mail to the user, once per message, without taking it: `troupe inbox` or the lead's
 * view does that. The result ends it.
 */
export function watchUserMail(context: HostContext): MailboxWatcher {
  const dir = mailboxOf(context.paths, "user");
  const told = new Set<string>();
  let broken = false;
  const look = (): void => {
    try {
      tellNews();
      broken = false;
    } catch (error) {
      // The next bell or sweep looks again; until then it is told once.
      if (!broken)
        context.hub.emit({
          type: "notice",
          level: "warning",
          text: `mail to the user: ${oneLine(messageOf(error))}`,
        });
      broken = true;
    }
  };
  const tellNews = (): void => {
    for (const { message } of peekMailbox(dir, mailRooms, (id) => !told.has(id)).messages) {
      told.add(message.id);
      context.hub.emit({
        type: "mail",
        id: message.id,
        from: trustedSender(message, context.paths),
        to: "user",
        kind: message.kind,
        summary: oneLine(message.summary ?? message.text ?? message.kind, 80),
        text: message.text ?? "",
      });
    }
  };
  return watchMailbox(dir, look);
}
