import { messageOf } from "../../util/errors.js";
import { liveness } from "../../util/process-identity.js";
import { oneLine } from "../../util/text.js";
import { delay } from "../../util/wait.js";
import type { MemberRecord } from "../records.js";
import type { HostContext } from "./context.js";
import { memberGone } from "./member-gone.js";

/** How often the processes of members are looked at: one small read each. */
const everyMs = 200;

/**
 * Looks at the processes of all running members until the signal is aborted (then it resolves), and settles those that
 * are gone. An embedded agent of this process has none to look at; its run tells of its end.
 */
export async function watchMembers(context: HostContext, signal: AbortSignal): Promise<void> {
  const told = new Set<string>();
  const settling = new Map<string, Promise<void>>();
  // What goes wrong with one member, told once, must not keep the others from being looked at.
  const settle = async (member: MemberRecord): Promise<void> => {
    try {
      await memberGone(context, member);
    } catch (error) {
      if (told.has(member.incarnation)) return;
      told.add(member.incarnation);
      context.hub.emit({
        type: "notice",
        level: "warning",
        name: member.name,
        text: oneLine(messageOf(error)),
      });
    }
  };
  while (!signal.aborted) {
    // Side by side: one whose exit record does not come must not hold up the others.
    for (const member of context.roster.all()) {
      const { incarnation } = member;
      if (settling.has(incarnation) || !isGone(member)) continue;
      settling.set(
        incarnation,
        settle(member).finally(() => settling.delete(incarnation)),
      );
    }
    try {
      await delay(everyMs, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
  await Promise.all(settling.values());
}

function isGone(member: MemberRecord): boolean {
  if (member.state === "ended" || member.process === undefined || member.process.pid === process.pid)
    return false;
  return liveness(member.process) === "gone";
}
