/** Where a teammate is in its life. `starting → working ⇄ idle → stopping → ended`, and `blocked` before `starting`. */
export type MemberStateName = "blocked" | "starting" | "working" | "idle" | "stopping" | "ended";

export type IdleReason =
  | "done"
  | "waiting-mail"
  | "waiting-permission"
  | "waiting-plan"
  | "waiting-background"
  | "failed";

export type EndReason = "completed" | "failed" | "killed" | "lost";

/** A state with why and since when. `detail` is one line for people. */
export interface MemberState {
  readonly state: MemberStateName;
  readonly reason?: IdleReason | EndReason;
  readonly detail?: string;
  /** ISO 8601. */
  readonly since: string;
}

/** What may follow what; `ended` is final. A resume is a new incarnation and begins with `starting`. */
const successors: Readonly<Record<MemberStateName, readonly MemberStateName[]>> = {
  blocked: ["starting", "ended"],
  starting: ["working", "idle", "stopping", "ended"],
  working: ["working", "idle", "stopping", "ended"],
  idle: ["working", "idle", "stopping", "ended"],
  stopping: ["ended"],
  ended: [],
};

/**
 * The state after `next` was reported, or undefined if it cannot follow `current`: a late report of a teammate that is
 * being stopped, or has ended, changes nothing.
 */
export function nextState(current: MemberState, next: MemberState): MemberState | undefined {
  return successors[current.state].includes(next.state) ? next : undefined;
}
