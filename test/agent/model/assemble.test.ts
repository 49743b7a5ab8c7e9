import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages/messages.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createAssembler } from "../../../src/agent/model/assemble.js";
import { ModelError } from "../../../src/agent/model/types.js";

const events = (...given: object[]) => given as RawMessageStreamEvent[];

function assemble(given: readonly RawMessageStreamEvent[]) {
  const assembler = createAssembler();
  const shown = given.flatMap((event) => assembler.accept(event));
  return { assembler, shown, ...assembler.assembled() };
}

const start = { type: "message_start", message: { usage: { input_tokens: 5, output_tokens: 1 } } };

/** However a text and a tool's input are cut into deltas, the same message comes out. */
test("deltas add up", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ minLength: 1 }), { minLength: 1 }).filter((parts) => parts.join("").trim() !== ""),
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.nat(20),
      (parts, input, cut) => {
        const json = JSON.stringify(input);
        const { content, cutCalls, shown, usage, stopReason } = assemble(
          events(
            start,
            { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
            ...parts.map((text) => ({
              type: "content_block_delta",
              index: 0,
              delta: { type: "text_delta", text },
            })),
            { type: "content_block_stop", index: 0 },
            {
              type: "content_block_start",
              index: 1,
              content_block: { type: "tool_use", id: "t", name: "N", input: {} },
            },
            ...[json.slice(0, cut), json.slice(cut)].map((partial_json) => ({
              type: "content_block_delta",
              index: 1,
              delta: { type: "input_json_delta", partial_json },
            })),
            { type: "content_block_stop", index: 1 },
            { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 9 } },
            { type: "message_stop" },
          ),
        );
        expect(content).toEqual([
          { type: "text", text: parts.join("") },
          { type: "tool_use", id: "t", name: "N", input: JSON.parse(json) },
        ]);
        expect(cutCalls).toEqual([]);
        expect(shown.map((delta) => (delta.type === "text" ? delta.text : "")).join("")).toBe(parts.join(""));
        expect(usage).toEqual({ input: 5, output: 9, cacheRead: 0, cacheWrite: 0 });
        expect(stopReason).toBe("tool_use");
      },
    ),
  );
});

test("an unknown event type is passed over, wherever it comes", () => {
  const { assembler } = assemble(
    events({ type: "weather" }, start, { type: "weather" }, { type: "message_stop" }),
  );
  expect(assembler.complete).toBe(true);
});

test.each(["[1]", "7", '{"a": ', "null"])("a call with input %s is cut", (json) => {
  const { content, cutCalls } = assemble(
    events(
      start,
      { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "t", name: "N" } },
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: json } },
      { type: "content_block_stop", index: 0 },
    ),
  );
  expect(content).toEqual([]);
  expect(cutCalls).toEqual(["N"]);
});

const junk = fc.oneof(fc.constantFrom(undefined, null, 0, 1, "", "x", [], {}), fc.jsonValue());
const anyEvent = fc.record(
  {
    type: fc.constantFrom(
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
      "other",
    ),
    index: fc.oneof(fc.nat(2), junk),
    message: junk,
    usage: junk,
    content_block: fc.oneof(
      junk,
      fc.record(
        {
          type: fc.constantFrom("text", "tool_use", "thinking", "novel"),
          text: junk,
          id: junk,
          name: junk,
          input: junk,
        },
        { requiredKeys: ["type"] },
      ),
    ),
    delta: fc.oneof(
      junk,
      fc.record(
        {
          type: fc.constantFrom(
            "text_delta",
            "input_json_delta",
            "thinking_delta",
            "signature_delta",
            "citations_delta",
          ),
          text: junk,
          partial_json: junk,
          thinking: junk,
          citation: junk,
        },
        { requiredKeys: ["type"] },
      ),
    ),
  },
  { requiredKeys: ["type"] },
);

test("whatever a server sends, the worst is a ModelError", () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 12 }), (given) => {
      try {
        assemble(events(start, ...given.filter(({ type }) => type !== "message_start")));
      } catch (error) {
        expect(error).toBeInstanceOf(ModelError);
      }
    }),
    { numRuns: 2000 },
  );
});
