import { describe, expect, it } from "vitest";
import type { TeamEventBody } from "../../src/team/events.js";
import { addressOf, createLeadView } from "../../src/ui/lead-view.js";
import { at, hostile, toolEnd } from "./events.js";
import { MemoryOutput } from "./memory-output.js";

const since = "2026-01-02T03:04:05Z";

function rowsOf(lead: "user" | "lead", events: readonly TeamEventBody[]): string[] {
  const output = new MemoryOutput();
  const view = createLeadView({
    output,
    env: { LANG: "C.UTF-8" },
    team: "auth",
    lead,
    onMessage: () => {},
    onEscape: () => {},
    onInterrupt: () => {},
  });
  for (const event of events) view.show(at(event));
  view.close();
  return output.text.split("\n").slice(0, -1);
}
const joined = (name: string): TeamEventBody => ({
  type: "member-joined",
  name,
  what: "Explore",
  colour: "red",
  model: "offline",
});
const mail = (from: string, to: string, summary: string, text: string): TeamEventBody => ({
  type: "mail",
  id: `${from}${to}${text}`,
  from,
  to,
  kind: "text",
  summary,
  text,
});

it("shows the lead's own work, and of the others one line per change of state", () =>
  expect(
    rowsOf("lead", [
      { type: "team-started", team: "auth", backend: "tmux", reason: "inside tmux", pid: 1 },
      joined("scout"),
      { type: "member-state", name: "scout", state: "working", since },
      { type: "member-state", name: "scout", state: "working", since },
      { type: "agent", name: "scout", event: toolEnd("Grep", "TODO") },
      { type: "agent", name: "lead", event: toolEnd("Read", "a.ts") },
      { type: "member-state", name: "lead", state: "working", since },
      { type: "member-state", name: "scout", state: "idle", reason: "done", since },
      mail("scout", "lead", "34 found", "34 found"),
      mail("scout", "mapper", "not for us", "not for us"),
      {
        type: "agent",
        name: "lead",
        event: { type: "message-in", ids: ["x"], labels: ["mail from scout: 34 found"] },
      },
      { type: "notice", level: "info", name: "scout", text: "compacted" },
    ]),
  ).toEqual([
    "● team auth  tmux: inside tmux",
    "scout joined  Explore · offline (scripted)",
    "scout working",
    "● Read a.ts  0.3 s",
    "scout idle (done)",
    "← from scout: 34 found",
    "! scout: compacted",
  ]));

it("keeps what comes in the middle of a text until its end", () =>
  expect(
    rowsOf("lead", [
      { type: "agent", name: "lead", event: { type: "text", text: "I am " } },
      { type: "member-state", name: "scout", state: "working", since },
      { type: "agent", name: "lead", event: { type: "text", text: "here\n" } },
      { type: "agent", name: "lead", event: { type: "text-end" } },
    ]),
  ).toEqual(["I am here", "scout working"]));

it("shows what was kept when the view closes before the end of a text", () =>
  expect(
    rowsOf("lead", [
      { type: "agent", name: "lead", event: { type: "text", text: "I am here" } },
      { type: "member-state", name: "scout", state: "working", since },
    ]),
  ).toEqual(["I am here", "scout working"]));

it("lets a text that goes on and on hold back no more than a screen of news", () =>
  expect(
    rowsOf("lead", [
      { type: "agent", name: "lead", event: { type: "text", text: "I am " } },
      ...Array.from({ length: 21 }, (_, n) => ({
        type: "notice" as const,
        level: "info" as const,
        text: `news ${n}`,
      })),
      { type: "agent", name: "lead", event: { type: "text", text: "here\n" } },
    ]).slice(0, 2),
  ).toEqual(["I am ", "! news 0"]));

it("shows the user's mail in full where the user leads", () =>
  expect(
    rowsOf("user", [
      mail("scout", "user", "34 found", "34 found:\nsrc/a.ts"),
      mail("user", "scout", "thanks", "thanks"),
      mail("scout", "user", "bye", "bye"),
    ]),
  ).toEqual([
    "← from scout: 34 found",
    "  34 found:",
    "  src/a.ts",
    "→ to scout: thanks",
    "← from scout: bye",
  ]));

it("does not repeat as mail or result what the lead has just said", () => {
  const said: TeamEventBody = { type: "agent", name: "lead", event: { type: "text", text: "All done.\n" } };
  expect(
    rowsOf("lead", [
      said,
      mail("lead", "user", "All done.", "All done."),
      { type: "result", from: "lead", text: "All done." },
    ]),
  ).toEqual(["All done."]);
  expect(rowsOf("user", [{ type: "result", from: "scout", text: "All done." }])).toEqual([
    "← result of scout:",
    "  All done.",
  ]);
});

it("lets no control character through", () => {
  const rows = rowsOf("user", [
    { type: "team-started", team: hostile, backend: hostile, reason: hostile, pid: 1 },
    { type: "member-joined", name: hostile, what: hostile, colour: hostile, model: hostile },
    { type: "member-state", name: hostile, state: "ended", reason: "failed", detail: hostile, since },
    mail(hostile, "user", hostile, hostile),
    mail("user", hostile, hostile, hostile),
    { type: "notice", level: "warning", name: hostile, text: hostile },
    { type: "result", from: hostile, text: hostile },
    { type: "team-ended", reason: hostile },
  ]);
  for (const row of rows) expect(row).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
});

describe("whom a line is for", () => {
  it.each<["user" | "lead", string, { to: string; text: string } | undefined]>([
    ["lead", "go on", { to: "lead", text: "go on" }],
    ["lead", "@scout look\nat auth", { to: "scout", text: "look\nat auth" }],
    ["lead", "@* stop", { to: "*", text: "stop" }],
    ["lead", "@scout", { to: "lead", text: "@scout" }],
    ["user", "@мир привет", { to: "мир", text: "привет" }],
    ["user", "go on", undefined],
    ["user", "@scout", undefined],
    ["lead", "  ", undefined],
  ])("with %s as lead: %j", (lead, line, address) => expect(addressOf(line, lead)).toEqual(address));
});
