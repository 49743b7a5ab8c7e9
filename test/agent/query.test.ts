import { afterEach, expect, test } from "vitest";
import { createHarness, type Harness, message, tool } from "./query-harness.js";

let harness: Harness;
afterEach(() => harness.close());

const call = (name: string, value: unknown, id?: string) => ({
  name,
  input: { value },
  ...(id === undefined ? {} : { id }),
});

test("one turn: records, events, counts", async () => {
  harness = await createHarness([
    { text: "Good morning.", usage: { input_tokens: 7, output_tokens: 3, cache_read_input_tokens: 2 } },
  ]);
  const result = await harness.run();
  expect(result).toEqual({
    status: "completed",
    text: "Good morning.",
    turns: 1,
    toolUses: 0,
    billed: { input: 7, output: 3, cacheRead: 2, cacheWrite: 0 },
    context: 9,
  });
  expect(harness.log).toEqual(["user m1", "request", "assistant", "answered m1", "take"]);
  expect(harness.events.map(({ type }) => type)).toEqual([
    "message-in",
    "turn-start",
    "text",
    "text",
    "text-end",
    "turn-end",
    "result",
  ]);
  expect(harness.conversation).toEqual(harness.records.map((record) => record.message));
  expect(harness.server.requests[0]?.body).toMatchObject({
    model: "test-model",
    max_tokens: 1000,
    stream: true,
    system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
    messages: [{ role: "user", content: [{ type: "text", text: "hello" }] }],
  });
});

test("tool results go back in call order with what arrived behind them", async () => {
  harness = await createHarness([
    { text: "Looking.", tools: [call("Slow", "a", "t1"), call("Fast", "b", "t2")] },
    { text: "Done." },
  ]);
  let release = () => {};
  const fastRan = new Promise<void>((resolve) => {
    release = resolve;
  });
  harness.mail.push([message("m2", "mail text")]);
  const result = await harness.run({
    tools: [
      tool("Slow", async (value) => {
        await fastRan;
        return `slow ${value}`;
      }),
      tool("Fast", async (value) => {
        release();
        return `fast ${value}`;
      }),
    ],
  });
  expect(result).toMatchObject({ status: "completed", text: "Done.", turns: 2, toolUses: 2 });
  expect(harness.conversation[2]).toEqual({
    role: "user",
    content: [
      { type: "tool_result", tool_use_id: "t1", content: "slow a" },
      { type: "tool_result", tool_use_id: "t2", content: "fast b" },
      { type: "text", text: "mail text" },
    ],
  });
  expect(harness.log).toEqual([
    "user m1",
    "request",
    "assistant",
    "answered m1",
    "take",
    "user m2",
    "request",
    "assistant",
    "answered m2",
    "take",
  ]);
  expect(harness.server.requests[0]?.body.tools[0]).toMatchObject({
    name: "Slow",
    input_schema: { type: "object", required: ["value"] },
  });
});

test("changing tools run one after another, and never beside reading ones", async () => {
  const running = new Set<string>();
  const seen: string[][] = [];
  const track = (name: string, readOnly: boolean) =>
    tool(
      name,
      async (value) => {
        running.add(value);
        seen.push([...running]);
        await new Promise(setImmediate);
        running.delete(value);
        return value;
      },
      { readOnly },
    );
  harness = await createHarness([
    {
      tools: [call("R", "r1"), call("R", "r2"), call("W", "w1"), call("W", "w2"), call("R", "r3")],
    },
    { text: "ok" },
  ]);
  await harness.run({ tools: [track("R", true), track("W", false)] });
  expect(seen).toEqual([["r1"], ["r1", "r2"], ["w1"], ["w2"], ["r3"]]);
});

test("unknown tool, bad input, throwing tool and denied tool are error results", async () => {
  harness = await createHarness([
    {
      tools: [call("Nope", "x"), call("Echo", 7), call("Throws", "x"), call("Denied", "secret plan")],
    },
    { text: "I see." },
  ]);
  const result = await harness.run({
    tools: [
      tool("Echo", async (value) => value),
      tool("Throws", async () => {
        throw new Error("disk on fire");
      }),
      tool("Denied", async () => "never"),
    ],
    permissions: {
      mode: "default",
      decide: async ({ tool: { name } }) =>
        name === "Denied" ? { behaviour: "deny", reason: "not today" } : { behaviour: "allow" },
    },
  });
  expect(result.status).toBe("completed");
  const results = harness.conversation[2]?.content as { content: string; is_error: boolean }[];
  expect(results.map(({ is_error }) => is_error)).toEqual([true, true, true, true]);
  expect(results[0]?.content).toBe("There is no tool Nope. Tools: Echo, Throws, Denied.");
  expect(results[1]?.content).toMatch(/^The input does not fit Echo\. value: .*string/);
  expect(results[2]?.content).toBe("Throws failed: disk on fire");
  expect(results[3]?.content).toBe("Not allowed: not today");
  expect(harness.events).toContainEqual({
    type: "denied",
    tool: "Denied",
    summary: "secret plan",
    reason: "not today",
  });
});

test("mail that is there when the model stops keeps the loop going", async () => {
  harness = await createHarness([{ text: "one" }, { text: "two" }]);
  harness.mail.push([message("m2", "late mail")]);
  const result = await harness.run();
  expect(result).toMatchObject({ status: "completed", text: "two", turns: 2 });
  expect(harness.log.slice(4)).toEqual(["take", "user m2", "request", "assistant", "answered m2", "take"]);
});

test("mail is left to the caller when there is no turn left for it", async () => {
  harness = await createHarness([{ text: "one" }]);
  harness.mail.push([message("m2", "late mail")]);
  expect(await harness.run({ maxTurns: 1 })).toMatchObject({ status: "completed", turns: 1 });
  expect(harness.mail).toHaveLength(1);
});

test("maxTurns ends with the results on record", async () => {
  harness = await createHarness([{ tools: [call("Echo", "x", "t1")] }]);
  const result = await harness.run({ maxTurns: 1, tools: [tool("Echo", async (value) => value)] });
  expect(result).toMatchObject({ status: "max-turns", turns: 1, toolUses: 1 });
  expect(harness.conversation.at(-1)?.content).toEqual([
    { type: "tool_result", tool_use_id: "t1", content: "x" },
  ]);
  expect(harness.server.unexpected).toEqual([]);
});

test("an answer without usage fields counts nothing and still works", async () => {
  harness = await createHarness([{ text: "hi", usage: null }]);
  const result = await harness.run();
  expect(result).toMatchObject({ status: "completed", text: "hi", context: 0 });
});

test("thinking goes back to the model unchanged", async () => {
  harness = await createHarness([{ thinking: "hmm", tools: [call("Echo", "x")] }, { text: "done" }]);
  await harness.run({ tools: [tool("Echo", async (value) => value)] });
  expect(harness.server.requests[1]?.body.messages[1].content[0]).toEqual({
    type: "thinking",
    thinking: "hmm",
    signature: "sig",
  });
});

test("the next query carries on with the same conversation", async () => {
  harness = await createHarness([{ text: "one" }, { text: "two" }]);
  await harness.run();
  await harness.run({ input: [message("m2", "again")] });
  expect(harness.server.requests[1]?.body.messages).toHaveLength(3);
  expect(harness.conversation).toHaveLength(4);
});

test("a consumer that stops reading ends the tools", async () => {
  harness = await createHarness([{ tools: [call("Wait", "x")] }]);
  let ended = false;
  const wait = tool("Wait", async (_, { signal }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    ended = true;
    return "";
  });
  for await (const event of harness.start({ tools: [wait] })) if (event.type === "tool-start") break;
  expect(ended).toBe(true);
});

test("what cannot be recorded is not sent", async () => {
  harness = await createHarness([{ text: "never" }]);
  const transcript = { append: () => Promise.reject(new Error("disk full")) };
  await expect(harness.run({ transcript })).rejects.toThrow("disk full");
  expect(harness.server.requests).toEqual([]);
  expect(harness.conversation).toEqual([]);
});
