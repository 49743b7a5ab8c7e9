import { afterEach, expect, test } from "vitest";
import type { AgentEvent } from "../../src/agent/events.js";
import { waitUntil } from "../../src/util/wait.js";
import { createHarness, type Harness, tool } from "./query-harness.js";

let harness: Harness;
afterEach(() => harness.close());

const retries = () =>
  harness.events.filter((event): event is AgentEvent & { type: "retry" } => event.type === "retry");

test("429, 529 and 5xx are waited out", async () => {
  harness = await createHarness([
    { status: 429, headers: { "retry-after-ms": "30" }, message: "slow down" },
    { status: 529 },
    { status: 500 },
    { status: 502 },
    { status: 503 },
    { text: "at last" },
  ]);
  const started = performance.now();
  expect(await harness.run()).toMatchObject({ status: "completed", text: "at last", turns: 1 });
  expect(performance.now() - started).toBeGreaterThan(29);
  expect(retries().map(({ status, attempt }) => [status, attempt])).toEqual([
    [429, 1],
    [529, 2],
    [500, 3],
    [502, 4],
    [503, 5],
  ]);
  expect(retries()[0]?.waitMs).toBe(30);
  expect(harness.records).toHaveLength(2);
  expect(new Set(harness.server.requests.map(({ body }) => JSON.stringify(body))).size).toBe(1);
});

test("retry-after is read in seconds too, and a wait past the deadline is not begun", async () => {
  harness = await createHarness([{ status: 429, headers: { "retry-after": "3600" }, message: "quota" }]);
  const result = await harness.run({ limits: { attempts: 8, totalMs: 60_000 } });
  expect(result).toMatchObject({ status: "failed", error: { code: "rate-limit", status: 429 } });
  expect(result.error?.message).toContain("given up after 1 attempt; the next would be in 3600 s");
  expect(result.unanswered).toEqual(["m1"]);
});

test("attempts are bounded", async () => {
  harness = await createHarness(() => ({ status: 529, message: "busy" }));
  const result = await harness.run({ limits: { attempts: 3, totalMs: 60_000 } });
  expect(result).toMatchObject({ status: "failed", error: { code: "overloaded", status: 529 } });
  expect(harness.server.requests).toHaveLength(3);
});

test("a stream that is cut off is asked for again, and nothing is doubled", async () => {
  const read = (events: number) => () =>
    waitUntil(`${events} events`, () => harness.received() === events, { timeoutMs: 5000 });
  const call = { name: "Echo", input: { value: "x" } };
  harness = await createHarness([
    { text: "I am going to say", cutAfter: 3, beforeCut: read(3) },
    { text: "I am going to say", tools: [call], cutAfter: 7, beforeCut: read(10) },
    { text: "The whole answer." },
  ]);
  const result = await harness.run({ tools: [tool("Echo", async (value) => value)] });
  expect(result).toMatchObject({ status: "completed", text: "The whole answer.", toolUses: 0, turns: 1 });
  expect(harness.conversation).toHaveLength(2);
  expect(harness.records).toHaveLength(2);
  expect(harness.events.map(({ type }) => type)).toEqual([
    "message-in",
    "turn-start",
    "text",
    "text-end",
    "notice",
    "retry",
    "text",
    "text",
    "text-end",
    "notice",
    "retry",
    "text",
    "text",
    "text-end",
    "turn-end",
    "result",
  ]);
  // The two that were cut had begun to be answered: the server counted them.
  expect(result.billed.input).toBe(30);
  expect(retries().map(({ status }) => status)).toEqual([0, 0]);
});

test("an overload inside a stream is waited out", async () => {
  harness = await createHarness([
    { text: "well", errorAfter: { events: 3, type: "overloaded_error", message: "Overloaded" } },
    { text: "better" },
  ]);
  expect(await harness.run()).toMatchObject({ status: "completed", text: "better" });
});

test("401 and 403 fail at once, say what to do and never show the key", async () => {
  harness = await createHarness([
    { status: 401, message: "invalid x-api-key sk-secret" },
    { status: 403, message: "no access" },
  ]);
  const first = await harness.run();
  expect(first.error).toMatchObject({ code: "auth", status: 401 });
  expect(first.error?.message).toContain("check the key and the base URL");
  expect(JSON.stringify(harness.events)).not.toContain("sk-secret");
  expect((await harness.run({ input: [] })).error).toMatchObject({ code: "auth", status: 403 });
});

test("a prompt that is too long fails at once", async () => {
  harness = await createHarness([
    { status: 400, message: "prompt is too long: 250000 tokens > 200000 maximum" },
  ]);
  expect((await harness.run()).error).toMatchObject({ code: "too-long", status: 400 });
  expect(harness.server.requests).toHaveLength(1);
});

test("other refused requests and unknown models fail at once", async () => {
  harness = await createHarness([
    { status: 400, message: "bad" },
    { status: 404, message: "model: nope" },
  ]);
  expect((await harness.run()).error?.code).toBe("bad-request");
  expect((await harness.run({ input: [] })).error?.message).toContain("check the model's name");
});

test("a server that is not there is a connection failure", async () => {
  harness = await createHarness([]);
  await harness.close();
  const result = await harness.run({ limits: { attempts: 2, totalMs: 60_000 } });
  expect(result).toMatchObject({ status: "failed", error: { code: "connection" } });
  expect(result.error?.message).toContain("ECONNREFUSED");
});

test.each([
  ["a web page", { status: 200, headers: { "content-type": "text/html" }, body: "<html>" }, "text/html"],
  [
    "bad JSON",
    sse('event: message_start\ndata: {"type": "message_st\n\n'),
    "an event of the stream is not JSON",
  ],
  ["an event without type", sse("event: message_start\ndata: 7\n\n"), "has no type"],
  [
    "a delta before its block",
    sse(
      'event: message_start\ndata: {"type":"message_start","message":{}}\n\n' +
        'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}\n\n',
    ),
    "a delta for block 0",
  ],
  [
    "an unknown delta",
    sse(
      'event: message_start\ndata: {"type":"message_start","message":{}}\n\n' +
        'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n' +
        'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"smell_delta"}}\n\n',
    ),
    "a smell_delta for a block of type text",
  ],
])("%s in the place of a stream fails clearly", async (_, turn, words) => {
  harness = await createHarness([turn]);
  const result = await harness.run();
  expect(result).toMatchObject({ status: "failed", error: { code: "protocol" } });
  expect(result.error?.message).toContain(words);
  expect(harness.server.requests).toHaveLength(1);
});

function sse(body: string) {
  return { status: 200, headers: { "content-type": "text/event-stream" }, body };
}
