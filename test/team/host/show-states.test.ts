import { describe, expect, it } from "vitest";
import { stateLabel } from "../../../src/team/host/show-states.js";

describe("the label of a member's place", () => {
  it.each([
    ["starting", { state: "starting" }],
    ["working", { state: "working" }],
    ["idle", { state: "idle", reason: "done" }],
    ["idle: waiting-permission", { state: "idle", reason: "waiting-permission" }],
    ["stopping", { state: "stopping" }],
    ["ended: exit code 0", { state: "ended", reason: "completed", exit: { exitCode: 0, signal: null } }],
    ["ended: by SIGSEGV", { state: "ended", reason: "killed", exit: { exitCode: null, signal: "SIGSEGV" } }],
    ["ended: lost", { state: "ended", reason: "lost" }],
  ] as const)("is %s", (text, state) => expect(stateLabel(state)).toBe(text));
});
