import type { ContentBlockParam, MessageParam } from "@anthropic-ai/sdk/resources/messages/messages.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  blocksOf,
  callsOf,
  isBlank,
  repairConversation,
  requestMessages,
} from "../../src/agent/conversation.js";

const user = (...content: ContentBlockParam[]): MessageParam => ({ role: "user", content });
const assistant = (...content: ContentBlockParam[]): MessageParam => ({ role: "assistant", content });
const text = (words: string): ContentBlockParam => ({ type: "text", text: words });
const use = (id: string): ContentBlockParam => ({ type: "tool_use", id, name: "Echo", input: {} });
const result = (id: string): ContentBlockParam => ({ type: "tool_result", tool_use_id: id, content: "real" });
const thinking: ContentBlockParam = { type: "thinking", thinking: "hm", signature: "s" };

test("a sound conversation stays as it is", () => {
  const sound = [
    user(text("hi")),
    assistant(thinking, use("a")),
    user(result("a"), text("mail")),
    assistant(text("ok")),
  ];
  expect(repairConversation(sound)).toEqual(sound);
});

test("open calls at the end get interrupted results", () => {
  const repaired = repairConversation([user(text("hi")), assistant(use("a"), use("b"))]);
  expect(repaired[2]?.content).toMatchObject([
    { tool_use_id: "a", is_error: true },
    { tool_use_id: "b", is_error: true },
  ]);
});

test("missing results are added before what the user message holds", () => {
  const repaired = repairConversation([assistant(use("a"), use("b")), user(text("mail"), result("b"))]);
  expect(repaired[1]?.content).toMatchObject([
    { tool_use_id: "a", is_error: true },
    { tool_use_id: "b", content: "real" },
    { type: "text", text: "mail" },
  ]);
});

test("blank and thinking-only answers go, and results without calls", () => {
  expect(
    repairConversation([
      user(text("hi")),
      assistant(thinking),
      assistant(text("  ")),
      assistant(),
      user(result("ghost")),
      user(result("ghost"), text("last, without answer")),
    ]),
  ).toEqual([user(text("hi")), user(text("last, without answer"))]);
});

const block = fc.oneof(
  fc.constantFrom(text("words"), text(" "), thinking),
  fc.constantFrom("a", "b", "c").chain((id) => fc.constantFrom(use(id), result(id))),
);
const anyConversation = fc.array(
  fc.record({
    role: fc.constantFrom("user" as const, "assistant" as const),
    content: fc.array(block, { maxLength: 4 }),
  }),
  { maxLength: 8 },
) as fc.Arbitrary<MessageParam[]>;

test("whatever is read, what is sent has every call answered at once, in order, by nothing else", () => {
  fc.assert(
    fc.property(anyConversation, (conversation) => {
      const repaired = repairConversation(conversation);
      const sent = requestMessages(repaired);
      for (const [index, message] of repaired.entries()) {
        const results = blocksOf(message).flatMap((b) => (b.type === "tool_result" ? [b.tool_use_id] : []));
        const before = repaired[index - 1];
        if (message.role === "assistant") expect(isBlank(message)).toBe(false);
        else expect(results).toEqual(before?.role === "assistant" ? callsOf(before).map(({ id }) => id) : []);
      }
      for (const [index, message] of sent.entries()) expect(message.role).not.toBe(sent[index - 1]?.role);
      expect(repairConversation(repaired)).toEqual(repaired);
    }),
  );
});
