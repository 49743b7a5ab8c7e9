import type { TeamEvent } from "../team/events.js";
import { oneLine } from "../util/text.js";
import type { Style } from "./style.js";

export type MailEvent = Extract<TeamEvent, { type: "mail" }>;

/** Mail that has reached a member and waits until the member reads it. */
export interface WaitingMail {
  arrived(mail: MailEvent): void;
  /** The member reads these; unknown ids are fine, also of mail that is told of later. */
  read(ids: readonly string[]): void;
  /** The latest mail that waits, a row each, oldest first. */
  rows(style: Style): string[];
}

export function createWaitingMail(): WaitingMail {
  const waiting = new Map<string, MailEvent>();
  const seen = new Set<string>();
  return {
    arrived(mail) {
      if (seen.has(mail.id)) return;
      waiting.set(mail.id, mail);
      dropOldest(waiting);
    },
    read(ids) {
      for (const id of ids) {
        waiting.delete(id);
        seen.add(id);
      }
      dropOldest(seen);
    },
    rows: (style) =>
      [...waiting.values()]
        .slice(-shown)
        .map((mail) => style.dim(`${style.symbols.in} from ${mailWords(mail.from, mail)} (waiting)`)),
  };
}

/** `scout: the summary`. */
export function mailWords(name: string, mail: Pick<MailEvent, "summary" | "text">): string {
  return oneLine(`${name}: ${mail.summary || mail.text}`);
}

/** Bounds for ids of a team that runs for days. */
const kept = 500;
const shown = 3;

function dropOldest(items: Map<string, unknown> | Set<string>): void {
  for (const id of items.keys()) {
    if (items.size <= kept) return;
    items.delete(id);
  }
}
