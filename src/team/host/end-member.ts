import { randomUUID } from "node:crypto";
import type { KillReport } from "../../../backends/types.js";
import { messageOf, TroupeError } from "../../util/errors.js";
import { oneLine } from "../../util/text.js";
import { waitUntil } from "../../util/wait.js";
import { defaults } from "../defaults.js";
import { keptOf } from "../kept.js";
import { killKeeping } from "../kill-keeping.js";
import type { MemberRecord } from "../records.js";
import type { HostContext } from "./context.js";
import type { EndReport } from "./protocol.js";

/**
 * Ends one member: an agent is asked by mail and has until the deadline; then, and for a command at once, TERM, KILL and
 * the pane, verified. What a person keeps is left alone. Idempotent: a member that has ended is swept once more for what it
 * left.
 */
export async function endMember(
  context: HostContext,
  member: MemberRecord,
  options: { readonly reason?: string | undefined; readonly timeoutMs?: number | undefined } = {},
): Promise<EndReport> {
  const { roster, hub } = context;
  const { name, incarnation, agentId } = member;
  const current = (): MemberRecord | undefined => roster.find(name);
  const ended = (): boolean => current()?.incarnation !== incarnation || current()?.state === "ended";
  const before = ended();
  // What a person keeps may go while the member ends by itself.
  const kept = keptOf(context.paths, member);
  const asked = !before && member.kind === "agent" && (await ask(context, member, ended, options));
  if (!ended()) mark(context, member, "stopping", options.reason);
  const keep = [...kept, ...keptOf(context.paths, member)];
  const report = await killKeeping(context.executorFor(member), agentId, keep);
  const how = before ? "already" : asked ? "asked" : report.forced ? "killed" : "terminated";
  if (!ended()) roster.setState(name, incarnation, endState(how, report));
  hub.emit({ type: "member-ended", name, report });
  await roster.flush();
  return { name, how, report };
}

/** Asks by mail and waits; true if the member ended by itself in time. */
async function ask(
  context: HostContext,
  member: MemberRecord,
  ended: () => boolean,
  options: { readonly reason?: string | undefined; readonly timeoutMs?: number | undefined },
): Promise<boolean> {
  const limit = context.file.limits?.shutdownDeadline;
  const timeoutMs = options.timeoutMs ?? (limit === undefined ? defaults.shutdownDeadlineMs : limit * 1000);
  mark(context, member, "stopping", options.reason);
  try {
    await context.postman.send(member.name, {
      kind: "shutdown-request",
      requestId: randomUUID(),
      incarnation: member.incarnation,
      deadline: new Date(Date.now() + timeoutMs).toISOString(),
      ...(options.reason === undefined ? {} : { text: options.reason }),
    });
    await waitUntil(`${member.name} to end`, ended, { timeoutMs, signal: context.signal });
    return true;
  } catch (error) {
    // One that cannot be asked, a full disk or a mailbox that is gone, is ended all the same.
    if (!(error instanceof TroupeError && error.code === "deadline") && !context.signal.aborted)
      context.hub.emit({
        type: "notice",
        level: "warning",
        name: member.name,
        text: oneLine(`could not be asked to end: ${messageOf(error)}`),
      });
    return false;
  }
}

function mark(context: HostContext, member: MemberRecord, state: "stopping", detail?: string): void {
  const since = new Date().toISOString();
  context.roster.setState(member.name, member.incarnation, {
    state,
    since,
    ...(detail === undefined ? {} : { detail }),
  });
}

function endState(how: EndReport["how"], report: KillReport) {
  const since = new Date().toISOString();
  if (report.survivors.length === 0)
    return { state: "ended", reason: how === "asked" ? "completed" : "killed", since } as const;
  const detail = `still running: ${report.survivors.map(({ pid, command }) => `${pid} ${command}`).join(", ")}`;
  return { state: "ended", reason: "killed", detail, since } as const;
}
