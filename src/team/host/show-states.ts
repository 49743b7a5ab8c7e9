import { oneLine } from "../../util/text.js";
import type { MemberRecord } from "../records.js";
import type { HostContext } from "./context.js";

/** Keeps the label of every member's place in step with its state, until the result is called. */
export function showStates({ hub, roster, executorFor }: HostContext): () => void {
  return hub.listen((event) => {
    if (event.type !== "member-state") return;
    const member = roster.find(event.name);
    if (member === undefined || member.kind === "user") return;
    void executorFor(member).showState?.(member.agentId, stateLabel(member));
  });
}

/** A state as short as it can be told: `working`, `idle`, `idle: waiting-permission`, `ended: exit code 3`. */
export function stateLabel({ state, reason, exit }: Pick<MemberRecord, "state" | "reason" | "exit">): string {
  if (state === "ended") return `ended: ${exit === undefined ? reason : howEnded(exit)}`;
  return state === "idle" && reason !== undefined && reason !== "done" ? `idle: ${reason}` : state;
}

function howEnded({ exitCode, signal }: NonNullable<MemberRecord["exit"]>): string {
  return oneLine(signal === null ? `exit code ${exitCode}` : `by ${signal}`);
}
