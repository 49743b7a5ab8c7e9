import type { MessageParam } from "@anthropic-ai/sdk/resources/messages/messages.js";
import { expect, test } from "vitest";
import { withCacheBreakpoints } from "../../../src/agent/model/cache-breakpoints.js";

const mark = { cache_control: { type: "ephemeral" } };
const base = { model: "m", max_tokens: 1 };
const schema = { type: "object" as const };

test("marks after tools, system and conversation, and on nothing else", () => {
  const request = {
    ...base,
    tools: [
      { name: "A", input_schema: schema },
      { name: "B", input_schema: schema },
    ],
    system: "Be brief.",
    messages: [
      { role: "user", content: "one" },
      { role: "assistant", content: [{ type: "text", text: "two" }] },
      {
        role: "user",
        content: [
          { type: "text", text: "three" },
          { type: "text", text: "four" },
        ],
      },
    ] satisfies MessageParam[],
  };
  const before = structuredClone(request);
  const sent = withCacheBreakpoints(request);
  expect(request).toEqual(before);
  expect(sent).toEqual({
    ...before,
    tools: [before.tools[0], { ...before.tools[1], ...mark }],
    system: [{ type: "text", text: "Be brief.", ...mark }],
    messages: [
      before.messages[0],
      before.messages[1],
      {
        role: "user",
        content: [
          { type: "text", text: "three" },
          { type: "text", text: "four", ...mark },
        ],
      },
    ],
  });
});

test("a string as last message becomes a marked block; nothing to mark is left alone", () => {
  expect(withCacheBreakpoints({ ...base, messages: [{ role: "user", content: "hi" }] })).toEqual({
    ...base,
    messages: [{ role: "user", content: [{ type: "text", text: "hi", ...mark }] }],
  });
  expect(withCacheBreakpoints({ ...base, messages: [] })).toEqual({ ...base, messages: [] });
});

test("thinking carries no mark, and marks that are there already go", () => {
  const { messages } = withCacheBreakpoints({
    ...base,
    messages: [
      { role: "user", content: [{ type: "text", text: "old", cache_control: { type: "ephemeral" } }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "said" },
          { type: "thinking", thinking: "t", signature: "s" },
        ],
      },
    ],
  });
  expect(messages[0]?.content).toEqual([{ type: "text", text: "old" }]);
  expect(messages[1]?.content).toEqual([
    { type: "text", text: "said", ...mark },
    { type: "thinking", thinking: "t", signature: "s" },
  ]);
});
