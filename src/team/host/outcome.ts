import type { MemberReport } from "./protocol.js";
import type { Roster } from "./roster.js";

/** How a team's work ended. */
export interface Outcome {
  /** Members that failed or were lost, and agents whose last turn failed. Services do not count. */
  readonly failed: readonly string[];
  /** The lead agent's last words; empty where the user leads. */
  readonly text: string;
}

/** Follows the results of all agents' turns, to say in the end what came out. */
export interface OutcomeWatch {
  take(name: string, incarnation: string, report: MemberReport): void;
  outcome(): Outcome;
}

export function watchOutcome(roster: Roster): OutcomeWatch {
  const last = new Map<string, { readonly text: string; readonly failed: boolean }>();
  return {
    take(name, incarnation, report) {
      if (report.type !== "event" || report.event.type !== "agent" || report.event.event.type !== "result")
        return;
      const { text, status, billed, context } = report.event.event.result;
      // A turn that only took note of something says nothing: the words before it still stand.
      last.set(name, {
        text: text || (last.get(name)?.text ?? ""),
        failed: status === "failed" || status === "refused",
      });
      roster.update(name, incarnation, { billed, context });
    },
    outcome() {
      const isFailed = ({ name, state, reason }: ReturnType<Roster["all"]>[number]): boolean =>
        (state === "ended" && (reason === "failed" || reason === "lost")) || last.get(name)?.failed === true;
      const failed = roster.all().filter((member) => !member.service && isFailed(member));
      return { failed: failed.map(({ name }) => name), text: last.get("lead")?.text ?? "" };
    },
  };
}
