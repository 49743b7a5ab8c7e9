import { afterEach, expect, test } from "vitest";
import { createHarness, type Harness, message, tool } from "./query-harness.js";

let harness: Harness;
afterEach(() => harness.close());

const echo = tool("Echo", async (value) => value);
const call = { name: "Echo", input: { value: "x" } };

test("stop_sequence ends like end_turn", async () => {
  harness = await createHarness([{ text: "done", stopReason: "stop_sequence" }]);
  expect(await harness.run()).toMatchObject({ status: "completed", text: "done" });
});

test("pause_turn sends the conversation again as it is, and leaves mail waiting", async () => {
  harness = await createHarness([{ text: "searching", stopReason: "pause_turn" }, { text: "found" }]);
  harness.mail.push([message("m2", "mail")], []);
  expect(await harness.run({ maxTurns: 2 })).toMatchObject({ status: "completed", text: "found", turns: 2 });
  expect(harness.server.requests[1]?.body.messages.map(({ role }: { role: string }) => role)).toEqual([
    "user",
    "assistant",
  ]);
  expect(harness.mail).toHaveLength(2);
});

test("refusal: no tool is run, the conversation stays valid", async () => {
  harness = await createHarness([
    { text: "I will not.", tools: [call], stopReason: "refusal" },
    { text: "Fine." },
  ]);
  expect(await harness.run({ tools: [echo] })).toMatchObject({
    status: "refused",
    text: "I will not.",
    toolUses: 0,
  });
  expect(harness.log).toContain("answered m1");
  expect(await harness.run({ input: [message("m2", "else?")] })).toMatchObject({ status: "completed" });
  expect(harness.server.requests[1]?.body.messages).toMatchObject([
    { role: "user" },
    { role: "assistant", content: [{ type: "text", text: "I will not." }] },
    { role: "user" },
  ]);
});

test("a full context window fails with a clear message", async () => {
  harness = await createHarness([{ text: "half", stopReason: "model_context_window_exceeded" }]);
  expect(await harness.run()).toMatchObject({
    status: "failed",
    text: "half",
    error: { code: "too-long", message: "the conversation has filled the model's context window" },
  });
});

test("an unknown stop reason fails and says which", async () => {
  harness = await createHarness([{ text: "?", stopReason: "moon_phase" }]);
  expect(await harness.run()).toMatchObject({
    status: "failed",
    error: { code: "protocol", message: "the model stopped for an unknown reason (moon_phase)" },
  });
});

test("max_tokens in text: the model is asked to go on", async () => {
  harness = await createHarness([{ text: "first half", stopReason: "max_tokens" }, { text: "second half" }]);
  expect(await harness.run()).toMatchObject({ status: "completed", text: "second half", turns: 2 });
  expect(harness.conversation[2]?.content).toMatchObject([
    { type: "text", text: expect.stringContaining("cut off by the output limit") },
  ]);
});

test("max_tokens in a tool call: the call is not run, and the model is told", async () => {
  harness = await createHarness([
    { text: "writing", tools: [call], rawInput: '{"value": "lo', stopReason: "max_tokens" },
    { text: "shorter then" },
  ]);
  expect(await harness.run({ tools: [echo] })).toMatchObject({ status: "completed", toolUses: 0 });
  expect(harness.conversation[1]?.content).toMatchObject([{ type: "text", text: "writing" }]);
  expect(harness.conversation[2]?.content).toMatchObject([
    { type: "text", text: expect.stringContaining("Your call of Echo was not run") },
  ]);
});

test("max_tokens again and again ends", async () => {
  harness = await createHarness(() => ({ text: "more", stopReason: "max_tokens" }));
  expect(await harness.run()).toMatchObject({
    status: "failed",
    turns: 4,
    error: { code: "max-tokens", message: "the output limit of 1000 tokens cut off 4 answers in a row" },
  });
});

test("a tool call that is whole is run, whatever the stop reason says", async () => {
  harness = await createHarness([{ tools: [call], stopReason: "end_turn" }, { text: "done" }]);
  expect(await harness.run({ tools: [echo] })).toMatchObject({ status: "completed", toolUses: 1, turns: 2 });
});

test("a blank answer ends the query and stays out of the conversation", async () => {
  harness = await createHarness([{ thinking: "nothing to say" }, { text: "now" }]);
  expect(await harness.run()).toMatchObject({ status: "completed", text: "" });
  expect(harness.conversation).toHaveLength(1);
  expect(harness.records).toHaveLength(2);
  await harness.run({ input: [message("m2", "again")] });
  expect(harness.server.requests[1]?.body.messages).toMatchObject([
    { role: "user", content: [{ text: "hello" }, { text: "again" }] },
  ]);
});
