import { openMailbox } from "../../../mailbox/index.js";
import { delay } from "../../util/wait.js";
import { defaults } from "../defaults.js";
import type { MemberRecord } from "../records.js";
import { mailboxOf } from "../send.js";
import type { HostContext } from "./context.js";

/**
 * Resolves when the team's work is done: every member but services is idle or ended, and no agent has unread mail, in
 * two looks 200 ms apart with no change of state in between. Rejects with the signal's reason.
 */
export async function workDone(
  context: HostContext,
  started: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  let quietSince: number | undefined;
  for (;;) {
    const version = context.roster.version;
    const quiet = started() && isQuiet(context) && version === context.roster.version;
    if (quiet && quietSince === version) return;
    quietSince = quiet ? version : undefined;
    await delay(defaults.doneSettleMs, signal);
  }
}

function isQuiet(context: HostContext): boolean {
  for (const member of context.roster.all()) {
    if (member.kind === "user" || member.service) continue;
    if (!["idle", "ended", "blocked"].includes(member.state)) return false;
    if (reads(member) && hasUnread(context, member)) return false;
  }
  return true;
}

/** A command may never look into its mailbox, and nobody reads for one that has ended. */
function reads(member: MemberRecord): boolean {
  return member.kind === "agent" && member.state !== "ended";
}

function hasUnread(context: HostContext, member: MemberRecord): boolean {
  const mailbox = openMailbox(mailboxOf(context.paths, member.name));
  const { new: stored, cur } = mailbox.counts();
  // An agent whose turn failed keeps the mail of that turn claimed until another one answers it.
  return stored > 0 || (cur > 0 && member.reason !== "failed");
}
