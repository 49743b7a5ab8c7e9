import { errnoOf, messageOf } from "../../util/errors.js";
import { liveness } from "../../util/process-identity.js";
import { oneLine } from "../../util/text.js";
import { delay } from "../../util/wait.js";
import { defaults } from "../defaults.js";
import type { MemberRecord } from "../records.js";
import type { HostContext } from "./context.js";
import { memberGone } from "./member-gone.js";

/** How often it is asked whether the processes of members are there, which costs next to nothing. */
const everyMs = 200;

/** Of so many looks one is thorough: a dead process that nobody buried, or another one with its number, is there, too. */
const thoroughEvery = defaults.sweepMs / everyMs;

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
  for (let looks = 0; !signal.aborted; looks++) {
    const isThorough = looks % thoroughEvery === 0;
    // Side by side: one whose exit record does not come must not hold up the others.
    for (const member of context.roster.all()) {
      const { incarnation } = member;
      if (settling.has(incarnation) || !isGone(member, isThorough)) continue;
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

function isGone({ state, process: of }: MemberRecord, isThorough: boolean): boolean {
  if (state === "ended" || of === undefined || of.pid === process.pid) return false;
  if (!isThorough && isThere(of.pid)) return false;
  return liveness(of) === "gone";
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) !== "ESRCH";
  }
}
