import { expect, it } from "vitest";
import { frameMessage, parseFrames } from "../../src/agent/message-frame.js";
import type { TranscriptRecord } from "../../src/agent/ports.js";
import { createStyle } from "../../src/ui/style.js";
import { renderTranscript } from "../../src/ui/transcript-view.js";
import { hostile } from "./events.js";

const style = createStyle({}, { LANG: "C.UTF-8" });
type Content = TranscriptRecord["message"]["content"];
const user = (content: Content): string[] =>
  renderTranscript(
    { type: "user", message: { role: "user", content }, messageIds: [] },
    { style, columns: 60, findMail: parseFrames },
  );
const assistant = (content: Content): string[] =>
  renderTranscript(
    { type: "assistant", message: { role: "assistant", content }, model: "m", stopReason: "end_turn" },
    { style, columns: 60 },
  );

it("shows a prompt, quoted", () =>
  expect(user("Map src/auth.\nBriefly.")).toEqual(["> Map src/auth.", "> Briefly."]));

it("shows mail by its sender", () =>
  expect(
    user([
      {
        type: "text",
        text: frameMessage({
          id: "1",
          from: "lead",
          kind: "text",
          summary: "start with auth",
          text: "Look at <src/auth> first.",
        }),
      },
      { type: "text", text: frameMessage({ id: "2", from: "external:bot", kind: "text", text: "hi" }) },
    ]),
  ).toEqual(["← from lead: start with auth", "  Look at <src/auth> first.", "← from external:bot", "  hi"]));

it("shows text, calls and mail of the agent", () =>
  expect(
    assistant([
      { type: "thinking", thinking: "secret", signature: "x" },
      { type: "text", text: "I look." },
      { type: "tool_use", id: "1", name: "Grep", input: { pattern: "TODO", path: "src" } },
      {
        type: "tool_use",
        id: "2",
        name: "SendMessage",
        input: { to: "lead", message: "long", summary: "34 found" },
      },
      { type: "tool_use", id: "3", name: "mcp__x__y", input: { n: 1 } },
    ]),
  ).toEqual(["  (thinking)", "I look.", "● Grep TODO", "→ to lead: 34 found", '● mcp__x__y {"n":1}']));

it("shows the first line of a result and how long it is", () =>
  expect(
    user([
      { type: "tool_result", tool_use_id: "1", content: "a.ts\nb.ts\nc.ts" },
      {
        type: "tool_result",
        tool_use_id: "2",
        is_error: true,
        content: [{ type: "text", text: "no such file" }],
      },
      { type: "tool_result", tool_use_id: "3" },
    ]),
  ).toEqual(["  a.ts … 3 lines", "  no such file", "  "]));

it("lets no control character through", () => {
  const rows = [
    ...user(hostile),
    ...user([{ type: "tool_result", tool_use_id: "1", content: hostile }]),
    ...user(frameMessage({ id: "1", from: hostile, kind: "text", summary: hostile, text: hostile })),
    ...assistant([
      { type: "text", text: hostile },
      { type: "tool_use", id: "1", name: hostile, input: { command: hostile } },
      { type: "tool_use", id: "2", name: "SendMessage", input: { to: hostile, message: hostile } },
    ]),
  ];
  for (const row of rows) expect(row).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
});
