import { messageOf } from "../../util/errors.js";
import { oneLine } from "../../util/text.js";
import type { MemberRecord } from "../records.js";
import type { HostContext } from "./context.js";
import { endMember } from "./end-member.js";
import type { EndReport } from "./protocol.js";

/** Ends all members, the lead last: what its teammates say as they end still has a reader. Never rejects. */
export async function endAll(
  context: HostContext,
  options: { readonly reason?: string; readonly timeoutMs?: number },
): Promise<readonly EndReport[]> {
  const end = (member: MemberRecord): Promise<EndReport> =>
    endMember(context, member, options).catch((error: unknown) => notEnded(context, member, error));
  const members = context.roster.all().filter(({ kind }) => kind !== "user");
  const teammates = await Promise.all(members.filter(({ name }) => name !== "lead").map(end));
  return [...teammates, ...(await Promise.all(members.filter(({ name }) => name === "lead").map(end)))];
}

/** One member that cannot be ended must not keep the others: it is reported as still running. */
function notEnded({ hub }: HostContext, { name, process }: MemberRecord, error: unknown): EndReport {
  const text = oneLine(`not ended: ${messageOf(error)}`);
  hub.emit({ type: "notice", level: "warning", name, text });
  const survivor = { pid: process?.pid ?? 0, command: text };
  return { name, how: "killed", report: { found: [survivor], ended: [], survivors: [survivor] } };
}
