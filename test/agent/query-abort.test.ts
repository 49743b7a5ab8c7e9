import { afterEach, expect, test } from "vitest";
import { waitUntil } from "../../src/util/wait.js";
import { createHarness, type Harness, message, tool } from "./query-harness.js";

let harness: Harness;
afterEach(() => harness.close());

const call = (value: string, id: string) => ({ name: "Work", input: { value }, id });

test("abort in mid-stream keeps what was said and ends the request", async () => {
  harness = await createHarness([{ text: "I was about to say", hangAfter: 4 }, { text: "Yes?" }]);
  const abort = new AbortController();
  const running = harness.run({ signal: abort.signal });
  await waitUntil("text", () => harness.events.filter(({ type }) => type === "text").length === 2, {
    timeoutMs: 5000,
  });
  abort.abort();
  expect(await running).toMatchObject({
    status: "aborted",
    text: "I was about to say",
    unanswered: ["m1"],
  });
  expect(harness.records.at(-1)).toMatchObject({ type: "assistant", stopReason: "aborted" });
  expect(harness.log).not.toContain("answered m1");
  await waitUntil("the request's end", () => harness.server.aborted() === 1, { timeoutMs: 5000 });

  const next = await harness.run({ input: [message("m2", "go on")], unanswered: ["m1"] });
  expect(next).toMatchObject({ status: "completed" });
  expect(next.unanswered).toBeUndefined();
  expect(harness.log).toContain("answered m1,m2");
  expect(harness.server.requests[1]?.body.messages).toMatchObject([
    { role: "user", content: [{ text: "hello" }] },
    { role: "assistant", content: [{ text: "I was about to say" }] },
    { role: "user", content: [{ text: "go on" }] },
  ]);
});

test("abort in mid-call leaves no half call behind, and answers whole ones", async () => {
  harness = await createHarness([
    { tools: [call("a", "t1"), call("b", "t2")], hangAfter: 7 },
    { text: "ok" },
  ]);
  const abort = new AbortController();
  const running = harness.run({ signal: abort.signal });
  await waitUntil("seven events", () => harness.received() === 7, { timeoutMs: 5000 });
  abort.abort();
  expect(await running).toMatchObject({ status: "aborted" });
  expect(harness.conversation.slice(1)).toMatchObject([
    { role: "assistant", content: [{ type: "tool_use", id: "t1", input: { value: "a" } }] },
    {
      role: "user",
      content: [{ tool_use_id: "t1", is_error: true, content: "Interrupted before it was run." }],
    },
  ]);
});

test("abort while tools run: real results stay, the others are interrupted, no tool is waited for", async () => {
  harness = await createHarness([{ tools: [call("quick", "t1"), call("deaf", "t2"), call("never", "t3")] }]);
  const abort = new AbortController();
  const started: string[] = [];
  const result = await harness.run({
    signal: abort.signal,
    tools: [
      tool(
        "Work",
        async (value) => {
          started.push(value);
          if (value === "quick") return "done quickly";
          abort.abort();
          return new Promise(() => {});
        },
        { readOnly: false },
      ),
    ],
  });
  expect(result).toMatchObject({ status: "aborted", turns: 1 });
  expect(started).toEqual(["quick", "deaf"]);
  expect(harness.conversation.at(-1)?.content).toMatchObject([
    { tool_use_id: "t1", content: "done quickly" },
    { tool_use_id: "t2", is_error: true, content: expect.stringContaining("may have taken effect") },
    { tool_use_id: "t3", is_error: true, content: "Interrupted before it was run." },
  ]);
  expect(harness.records.at(-1)?.message).toEqual(harness.conversation.at(-1));
  expect(harness.log.filter((line) => line === "take")).toEqual([]);
});

test("abort while a permission is asked for", async () => {
  harness = await createHarness([{ tools: [call("x", "t1")] }]);
  const abort = new AbortController();
  const result = await harness.run({
    signal: abort.signal,
    tools: [tool("Work", async (value) => value)],
    permissions: {
      mode: "default",
      decide: () => {
        abort.abort();
        return new Promise(() => {});
      },
    },
  });
  expect(result.status).toBe("aborted");
  expect(harness.conversation.at(-1)?.content).toMatchObject([{ tool_use_id: "t1", is_error: true }]);
});

test("abort during a wait for the server ends at once", async () => {
  harness = await createHarness([{ status: 429, headers: { "retry-after": "300" } }]);
  const abort = new AbortController();
  const running = harness.run({ signal: abort.signal });
  await waitUntil("the wait", () => harness.events.some(({ type }) => type === "retry"), { timeoutMs: 5000 });
  abort.abort();
  expect(await running).toMatchObject({ status: "aborted", unanswered: ["m1"] });
});

test("an abort before the query still records its input", async () => {
  harness = await createHarness([]);
  const result = await harness.run({ signal: AbortSignal.abort() });
  expect(result).toMatchObject({ status: "aborted", turns: 0, unanswered: ["m1"] });
  expect(harness.log).toEqual(["user m1"]);
});

test("calls that an earlier life left open are answered first", async () => {
  harness = await createHarness([{ text: "ok" }]);
  harness.conversation.push(
    { role: "user", content: "hi" },
    { role: "assistant", content: [{ type: "tool_use", id: "t0", name: "Work", input: {} }] },
  );
  await harness.run();
  expect(harness.server.requests[0]?.body.messages[2].content).toMatchObject([
    { type: "tool_result", tool_use_id: "t0", is_error: true },
    { type: "text", text: "hello" },
  ]);
});
