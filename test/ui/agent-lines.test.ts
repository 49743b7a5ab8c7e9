import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/agent/events.js";
import { createAgentLines } from "../../src/ui/agent-lines.js";
import { createStyle } from "../../src/ui/style.js";
import { displayWidth } from "../../src/ui/width.js";
import { hostile, result, toolEnd } from "./events.js";

const style = createStyle({}, { LANG: "C.UTF-8" });
const linesOf = (options: { width?: number; folded?: boolean } = {}) =>
  createAgentLines({ style, width: () => options.width ?? 80, folded: () => options.folded ?? false });
const rowsOf = (event: AgentEvent): string[] => linesOf().add(event);
const start = (id: string, tool: string, summary: string): AgentEvent => ({
  type: "tool-start",
  id,
  tool,
  summary,
});
const usage = { input: 900, output: 40, cacheRead: 100, cacheWrite: 20 };
const turnEnd = (stopReason: string): AgentEvent => ({
  type: "turn-end",
  turn: 1,
  firstTokenMs: 1,
  durationMs: 1,
  usage,
  stopReason,
});

it("shows text as it streams, and a call from its start to its outcome", () => {
  const lines = linesOf();
  expect(lines.add({ type: "text", text: "Looking at\nsrc" })).toEqual(["Looking at"]);
  expect(lines.live()).toEqual(["src"]);
  expect(lines.add(start("1", "Grep", '"TODO" in src'))).toEqual(["src"]);
  expect(lines.live()).toEqual(['○ Grep "TODO" in src …']);
  expect(lines.add(toolEnd("Grep", '"TODO" in src', { result: "34 matches" }))).toEqual([
    '● Grep "TODO" in src  34 matches · 0.3 s',
  ]);
  expect(lines.live()).toEqual([]);
});

it("shows the latest three of many running calls", () => {
  const lines = linesOf();
  for (const id of ["1", "2", "3", "4", "5"]) lines.add(start(id, "Read", id));
  expect(lines.live()).toEqual(["○ Read 3 …", "○ Read 4 …", "○ Read 5 …", "  +2 hidden"]);
});

describe("one event", () => {
  it.each<[string, AgentEvent, string[]]>([
    [
      "a failed call",
      toolEnd("Bash", "npm test", { isError: true, result: "exit code 1" }),
      ["✗ Bash npm test 0.3 s", "  exit code 1"],
    ],
    [
      "a denial",
      { type: "denied", tool: "Bash", summary: "rm -rf /", reason: "no rule allows it" },
      ["✗ Bash rm -rf /", "  denied: no rule allows it"],
    ],
    [
      "mail in",
      { type: "message-in", ids: ["1", "2"], labels: ["mail from lead: look at auth", "prompt: go"] },
      ["← from lead: look at auth", "← prompt: go"],
    ],
    ["mail out", toolEnd("SendMessage", "→ lead: 34 found"), ["→ to lead: 34 found"]],
    [
      "mail that failed",
      toolEnd("SendMessage", "→ leda: 34", { isError: true, result: "no member leda" }),
      ["✗ SendMessage → leda: 34 0.3 s", "  no member leda"],
    ],
    [
      "a retry",
      { type: "retry", status: 529, waitMs: 3000, attempt: 1 },
      ["! HTTP 529 from the model; attempt 2 in 3.0 s"],
    ],
    [
      "a retry without an answer",
      { type: "retry", status: 0, waitMs: 500, attempt: 2 },
      ["! no answer from the model; attempt 3 in 0.5 s"],
    ],
    ["an odd stop", turnEnd("max_tokens"), ["! the model stopped: max_tokens"]],
    ["an ordinary stop", turnEnd("tool_use"), []],
    ["a notice", { type: "notice", level: "info", text: "compacted" }, ["! compacted"]],
    ["the end", result(), ["  done · 3 turns · 1 tool call · 12.3k tokens in · 250 out"]],
    [
      "a failure",
      result({ status: "failed", error: { code: "auth", message: "HTTP 401" } }),
      ["✗ failed: HTTP 401"],
    ],
    [
      "an abort",
      result({ status: "aborted" }),
      ["! interrupted · 3 turns · 1 tool call · 12.3k tokens in · 250 out"],
    ],
  ])("%s", (_, event, rows) => expect(rowsOf(event)).toEqual(rows));
});

it("counts context by the latest request and output in all", () => {
  const lines = linesOf();
  lines.add(turnEnd("tool_use"));
  lines.add(turnEnd("end_turn"));
  expect(lines.tokens()).toEqual({ context: 1020, output: 80 });
});

it("cuts what does not fit, and the time last", () => {
  const lines = linesOf({ width: 30 });
  expect(lines.add(toolEnd("Grep", "x".repeat(50), { result: "34 matches" }))).toEqual([
    `● Grep ${"x".repeat(15)}…  0.3 s`,
  ]);
  for (const event of [
    toolEnd("漢字", "漢字".repeat(30), { result: "漢".repeat(30) }),
    toolEnd("B", "b", { isError: true, result: "y".repeat(90) }),
  ])
    for (const row of lines.add(event)) expect(displayWidth(row)).toBeLessThanOrEqual(30);
});

describe("folded", () => {
  it("counts searches and reads that follow each other, and tells the last", () => {
    const lines = linesOf({ folded: true });
    for (const [tool, what] of [
      ["Grep", "a"],
      ["Glob", "b"],
      ["Grep", "c"],
      ["Read", "d"],
      ["Read", "src/a.ts"],
    ] as const)
      expect(lines.add(toolEnd(tool, what))).toEqual([]);
    expect(lines.live()).toEqual(["● Searched 3 patterns, read 2 files, last src/a.ts"]);
    expect(lines.add(toolEnd("Edit", "src/a.ts"))).toEqual([
      "● Searched 3 patterns, read 2 files, last src/a.ts",
      "● Edit src/a.ts  0.3 s",
    ]);
    lines.add(toolEnd("Read", "README.md"));
    expect(lines.add({ type: "text", text: "So:\n" })).toEqual(["● Read 1 file, last README.md", "So:"]);
    expect(lines.live()).toEqual([]);
  });

  it("shows a failed one", () =>
    expect(
      linesOf({ folded: true }).add(toolEnd("Read", "x", { isError: true, result: "not there" })),
    ).toHaveLength(2));
});

it("completes what is open at the end", () => {
  const lines = linesOf({ folded: true });
  lines.add(toolEnd("Read", "a"));
  expect(lines.end()).toEqual(["● Read 1 file, last a"]);
  lines.add({ type: "text", text: "half" });
  expect(lines.end()).toEqual(["half"]);
  expect(lines.end()).toEqual([]);
});

it("lets no control character through", () => {
  const lines = linesOf();
  const events: AgentEvent[] = [
    { type: "text", text: `${hostile}\n${hostile}` },
    start("1", hostile, hostile),
    toolEnd(hostile, hostile, { id: "2", result: hostile }),
    toolEnd(hostile, hostile, { id: "3", isError: true, result: hostile }),
    toolEnd("SendMessage", hostile, { id: "4" }),
    { type: "denied", tool: hostile, summary: hostile, reason: hostile },
    { type: "message-in", ids: ["1"], labels: [hostile] },
    turnEnd(hostile),
    { type: "notice", level: "warning", text: hostile },
  ];
  const rows = events.flatMap((event) => [...lines.add(event), ...lines.live()]);
  rows.push(
    ...lines.add(result({ status: "failed", error: { code: "x", message: hostile } })),
    ...lines.end(),
  );
  expect(rows.length).toBeGreaterThan(events.length);
  for (const row of rows) expect(row).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
});
