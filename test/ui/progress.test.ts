import { expect, it } from "vitest";
import type { AgentEvent } from "../../src/agent/events.js";
import type { TeamEventBody } from "../../src/team/events.js";
import { createProgress } from "../../src/ui/progress.js";
import { at, hostile, result, toolEnd } from "./events.js";
import { MemoryOutput } from "./memory-output.js";

const time = "2026-01-02T03:04:05.000Z";
const clock = [new Date(time).getHours(), "04", "05"].map((part) => String(part).padStart(2, "0")).join(":");

function run(events: readonly TeamEventBody[], env: NodeJS.ProcessEnv = { LANG: "C.UTF-8" }) {
  const output = new MemoryOutput();
  const progress = createProgress({ output, env });
  for (const event of events) progress.show(at(event, time));
  return {
    output,
    lines: output.text
      .split("\n")
      .slice(0, -1)
      .map((line) => line.replace(`${clock} `, "")),
  };
}
const agent = (name: string, event: AgentEvent): TeamEventBody => ({ type: "agent", name, event });
const joined = (name: string, colour: string): TeamEventBody => ({
  type: "member-joined",
  name,
  what: "Explore",
  colour,
  model: "offline",
});

it("tells the choice of backend, who joins, works, writes and ends", () => {
  const { lines } = run([
    { type: "team-started", team: "auth", backend: "in-process", reason: "troupe run", pid: 1 },
    joined("scout", "red"),
    { type: "member-state", name: "scout", state: "starting", since: time },
    { type: "member-state", name: "scout", state: "working", since: time },
    agent("scout", { type: "tool-start", id: "1", tool: "Grep", summary: '"TODO" in src' }),
    agent("scout", toolEnd("Grep", '"TODO" in src')),
    agent("scout", { type: "tool-start", id: "2", tool: "Bash", summary: "npm test" }),
    agent("scout", toolEnd("Bash", "npm test", { durationMs: 61_000 })),
    agent("scout", { type: "tool-start", id: "3", tool: "Read", summary: "x" }),
    agent("scout", toolEnd("Read", "x", { isError: true, result: "no such file" })),
    { type: "mail", id: "1", from: "scout", to: "lead", kind: "text", summary: "34 found", text: "…" },
    { type: "output", name: "stats", line: "17 files" },
    { type: "member-state", name: "scout", state: "ended", reason: "killed", since: time },
    {
      type: "member-ended",
      name: "scout",
      report: { found: [], ended: [{ pid: 9, command: "sleep 9" }], survivors: [] },
    },
    { type: "notice", level: "warning", text: "out of memory" },
    { type: "team-ended", reason: "done" },
  ]);
  expect(lines).toEqual([
    "troupe  team auth runs in-process: troupe run",
    "scout   joined: Explore · offline (scripted)",
    "scout   starting",
    'scout   ● Grep "TODO" in src',
    "scout   ● Bash npm test",
    "scout     Bash npm test: 1 min 1 s",
    "scout   ● Read x",
    "scout   ✗ Read x: no such file",
    "scout   scout → lead: 34 found",
    "stats   17 files",
    "scout   ended (killed)",
    "scout   ended 1 process:",
    "scout     9 sleep 9",
    "troupe  ! out of memory",
    "troupe  the team has ended: done",
  ]);
});

it("tells of mail once: not again when it is read, nor as a call", () => {
  const { lines } = run([
    agent("scout", { type: "tool-start", id: "1", tool: "SendMessage", summary: "→ lead: 34 found" }),
    { type: "mail", id: "1", from: "scout", to: "lead", kind: "text", summary: "34 found", text: "" },
    agent("scout", toolEnd("SendMessage", "→ lead: 34 found", { durationMs: 9_000 })),
    agent("lead", { type: "message-in", ids: ["1"], labels: ["mail from scout: 34 found"] }),
  ]);
  expect(lines).toEqual(["scout   scout → lead: 34 found"]);
});

it("never mixes the unfinished lines of two members", () => {
  const text = (name: string, piece: string): TeamEventBody => agent(name, { type: "text", text: piece });
  const { output, lines } = run([
    text("scout", "I am "),
    text("mapper", "The docs "),
    text("scout", "looking\nat src"),
    text("mapper", "are\n"),
    agent("scout", { type: "text-end" }),
    agent("mapper", result()),
  ]);
  expect(lines).toEqual([
    "scout   I am looking",
    "mapper  The docs are",
    "scout   at src",
    "mapper    done · 3 turns · 1 tool call · 12.3k tokens in · 250 out",
  ]);
  for (const write of output.writes) expect(write.endsWith("\n")).toBe(true);
});

it("pads names to the widest and cuts a very long one", () => {
  const { lines } = run([joined("a-rather-long-name", "red"), joined("b", "blue")]);
  expect(lines.map((line) => line.indexOf("joined"))).toEqual([18, 18]);
});

it("paints names in their colours where colours are wanted", () => {
  const { output } = run([joined("scout", "red")], { FORCE_COLOR: "1" });
  expect(output.text).toContain("\u001b[38;5;203mscout");
});

it("lets no control character through", () => {
  const { output } = run([
    { type: "team-started", team: hostile, backend: hostile, reason: hostile, pid: 1 },
    { type: "member-joined", name: hostile, what: hostile, colour: hostile, model: hostile },
    { type: "member-state", name: hostile, state: "idle", reason: "failed", detail: hostile, since: hostile },
    agent(hostile, { type: "text", text: `${hostile}\n` }),
    agent("scout", { type: "tool-start", id: "1", tool: hostile, summary: hostile }),
    agent("scout", toolEnd(hostile, hostile, { isError: true, result: hostile })),
    { type: "mail", id: "1", from: hostile, to: hostile, kind: "text", summary: hostile, text: hostile },
    { type: "output", name: "stats", line: hostile },
    { type: "notice", level: "info", name: hostile, text: hostile },
    { type: "team-ended", reason: hostile },
  ]);
  expect(output.text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
});
