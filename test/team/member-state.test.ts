import { describe, expect, it } from "vitest";
import { type MemberStateName, nextState } from "../../src/team/member-state.js";

const states: readonly MemberStateName[] = ["blocked", "starting", "working", "idle", "stopping", "ended"];

/** `starting → working ⇄ idle → stopping → ended`, and `blocked` before `starting`; an end can come at any time. */
const allowed: Readonly<Record<MemberStateName, readonly MemberStateName[]>> = {
  blocked: ["starting", "ended"],
  starting: ["working", "idle", "stopping", "ended"],
  working: ["idle", "stopping", "ended", "working"],
  idle: ["working", "stopping", "ended", "idle"],
  stopping: ["ended"],
  ended: [],
};

describe("nextState", () => {
  it.each(states.flatMap((from) => states.map((to) => [from, to] as const)))("%s → %s", (from, to) => {
    const next = { state: to, detail: "why", since: "2026-01-02T00:00:00.000Z" };
    expect(nextState({ state: from, since: "2026-01-01T00:00:00.000Z" }, next)).toEqual(
      allowed[from].includes(to) ? next : undefined,
    );
  });
});
