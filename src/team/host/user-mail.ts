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
      // Before it counts as told: who it is from may be impossible to say for the moment.
      const from = trustedSender(message, context, "user");
      told.add(message.id);
      context.hub.emit({
        type: "mail",
        id: message.id,
        from,
        to: "user",
        kind: message.kind,
        summary: oneLine(message.summary ?? message.text ?? message.kind, 80),
        text: message.text ?? "",
      });
    }
  };
  let pause: NodeJS.Timeout | undefined;
  const open = (): MailboxWatcher =>
    watchMailbox(
      dir,
      (file) => {
        if (file === undefined) return look();
        void watcher.close();
        pause ??= setTimeout(() => {
          pause = undefined;
          watcher = open();
        }, pauseMs);
      },
      { onTrouble: warn },
    );
  let watcher = open();
  return {
    async close() {
      if (pause !== undefined) look();
      clearTimeout(pause);
      await watcher.close();
    },
  };
}

/**
 * How long the host does not watch after a message: it must not compete for a processor with who takes the mail, and a burst
 * wakes it up once. The watch begins with a look.
 */
const pauseMs = 200;
