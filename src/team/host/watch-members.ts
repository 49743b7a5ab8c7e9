import { liveness } from "../../util/process-identity.js";
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
  while (!signal.aborted) {
    for (const member of context.roster.all()) if (isGone(member)) await memberGone(context, member);
    try {
      await delay(everyMs, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

function isGone(member: MemberRecord): boolean {
  if (member.state === "ended" || member.process === undefined || member.process.pid === process.pid)
    return false;
  return liveness(member.process) === "gone";
}
