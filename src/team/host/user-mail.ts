import { type MailboxWatcher, mailRooms, peekMailbox, watchMailbox } from "../../../mailbox/index.js";
import { messageOf } from "../../util/errors.js";
import { oneLine } from "../../util/text.js";
import { mailboxOf } from "../send.js";
import { trustedSender } from "../trusted-sender.js";
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
      if (!broken) warn(error);
      broken = true;
    }
  };
  const warn = (error: unknown): void =>
    context.hub.emit({
      type: "notice",
      level: "warning",
      text: `mail to the user: ${oneLine(messageOf(error))}`,
    });
  const tellNews = (): void => {
    for (const { message } of peekMailbox(dir, mailRooms, (id) => !told.has(id)).messages) {
      told.add(message.id);
      context.hub.emit({
        type: "mail",
        id: message.id,
        from: trustedSender(message, context, "user"),
        to: "user",
        kind: message.kind,
        summary: oneLine(message.summary ?? message.text ?? message.kind, 80),
        text: message.text ?? "",
      });
    }
  };
  let pending: NodeJS.Timeout | undefined;
  const lookSoon = (): void => {
    pending ??= setTimeout(() => {
      pending = undefined;
      look();
    }, newsDelayMs);
  };
  const watcher = watchMailbox(dir, lookSoon, { onTrouble: warn });
  return {
    async close() {
      clearTimeout(pending);
      if (pending !== undefined) look();
      await watcher.close();
    },
  };
}

/** So that the host does not compete for a processor with who takes the mail. */
const newsDelayMs = 50;
