import type { KillReport } from "../../backends/types.js";
import type { AgentEvent } from "../agent/events.js";
import type { MemberState } from "./member-state.js";

/** What happens in a team, for views, `events.ndjson` and `--json`. `at` is ISO 8601; names are spelt as given. */
export type TeamEvent = { readonly at: string } & (
  | {
      readonly type: "team-started";
      readonly team: string;
      readonly backend: string;
      readonly reason: string;
      readonly pid: number;
    }
  | {
      readonly type: "member-joined";
      readonly name: string;
      readonly what: string;
      readonly colour: string;
      readonly model?: string;
    }
  | ({ readonly type: "member-state"; readonly name: string } & MemberState)
  | { readonly type: "agent"; readonly name: string; readonly event: AgentEvent }
  /** A line that a command teammate printed. */
  | { readonly type: "output"; readonly name: string; readonly line: string }
  | {
      readonly type: "mail";
      readonly id: string;
      readonly from: string;
      readonly to: string;
      readonly kind: string;
      readonly summary: string;
      readonly text: string;
    }
  | { readonly type: "member-ended"; readonly name: string; readonly report: KillReport }
  | {
      readonly type: "notice";
      readonly level: "info" | "warning";
      readonly name?: string;
      readonly text: string;
    }
  | { readonly type: "result"; readonly from: string; readonly text: string }
  | { readonly type: "team-ended"; readonly reason: string }
);

/** A team event without its time, as the places that emit it make it. */
export type TeamEventBody = TeamEvent extends infer E
  ? E extends { at: string }
    ? Omit<E, "at">
    : never
  : never;
