import type { KillReport } from "../../../backends/types.js";
import type { ProcessIdentity } from "../../util/process-identity.js";
import type { TeamEvent } from "../events.js";
import type { MemberState } from "../member-state.js";
import type { TeammateSpec } from "../team-file/schema.js";

/** Version of the host's socket protocol; both sides refuse another one with a clear message. */
export const protocolVersion = 1;

/** How the end of one member went. */
export interface EndReport {
  readonly name: string;
  /** `asked`: it ended by itself when asked; `terminated`: after TERM; `killed`: after KILL; `already`: had ended before. */
  readonly how: "asked" | "terminated" | "killed" | "already";
  readonly report: KillReport;
}

/** How to end. */
export interface EndParams {
  readonly reason?: string;
  readonly timeoutMs?: number;
  /** Processes by pid that are left alone, with what they started; refused where they are none of who ends. */
  readonly keep?: readonly number[];
}

/** What a person should know of an ending besides the processes, such as a pane that may be open still. */
export interface Notes {
  readonly notes?: readonly string[];
}

/** Requests to the host: method to parameters and result. One JSON line each way, matched by `id`. */
export interface HostMethods {
  /** Waits until every member has started or failed to. */
  ready: {
    params: Record<string, never>;
    result: {
      readonly failed: readonly { readonly name: string; readonly detail: string }[];
      /** Attaches a terminal to the team's own session of panes, where it has one. */
      readonly watchCommand?: readonly string[];
    };
  };
  spawn: {
    params: { readonly spec: TeammateSpec };
    result: { readonly name: string; readonly agentId: string; readonly pid: number; readonly pane?: string };
  };
  stop: {
    params: { readonly name: string } & EndParams;
    result: EndReport & Notes;
  };
  down: {
    params: EndParams;
    result: { readonly members: readonly EndReport[] } & Notes;
  };
  /** Streams team events on this connection: first up to 200 past ones of `name` (or of all), then as they happen. */
  subscribe: { params: { readonly name?: string; readonly backlog?: number }; result: Record<string, never> };
  /** First request of a member's own connection, which stays open for its life: its end is the news of its death. */
  hello: {
    params: { readonly name: string; readonly incarnation: string; readonly process: ProcessIdentity };
    result: Record<string, never>;
  };
  /** A member's news. */
  report: { params: MemberReport; result: Record<string, never> };
}

export type MemberReport =
  | { readonly type: "state"; readonly state: MemberState; readonly activity?: string }
  | { readonly type: "event"; readonly event: TeamEvent };

export type HostMethod = keyof HostMethods;
export type HostParams<M extends HostMethod> = HostMethods[M]["params"];
export type HostResult<M extends HostMethod> = HostMethods[M]["result"];

export type HostReply =
  | { readonly id: number; readonly ok: true; readonly result: unknown }
  | {
      readonly id: number;
      readonly ok: false;
      readonly error: {
        readonly code: string;
        readonly kind: string;
        readonly message: string;
        readonly remedy?: string;
      };
    };

/** A line from the host that is no reply. */
export interface HostPush {
  readonly event: TeamEvent;
}
