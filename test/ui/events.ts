import type { AgentEvent, QueryResult } from "../../src/agent/events.js";
import type { TeamEvent, TeamEventBody } from "../../src/team/events.js";

/** Escape sequences and characters that no view may let through. */
export const hostile = "\u001b[2J\u001b]0;owned\u0007a\u009b31mb\u202ec\rd";

export const at = (body: TeamEventBody, time = "2026-01-02T03:04:05.000Z"): TeamEvent =>
  ({ at: time, ...body }) as TeamEvent;

export const toolEnd = (
  tool: string,
  summary: string,
  more: Partial<Extract<AgentEvent, { type: "tool-end" }>> = {},
): AgentEvent => ({
  type: "tool-end",
  id: "1",
  tool,
  summary,
  isError: false,
  durationMs: 320,
  result: "",
  ...more,
});

export const result = (more: Partial<QueryResult> = {}): AgentEvent => ({
  type: "result",
  result: {
    status: "completed",
    text: "",
    turns: 3,
    toolUses: 1,
    billed: { input: 1000, output: 250, cacheRead: 11_300, cacheWrite: 0 },
    context: 9000,
    ...more,
  },
});
