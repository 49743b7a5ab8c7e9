import { afterEach, expect, test, vi } from "vitest";
import { anthropicOptions, createAnthropicModel } from "../../../src/agent/model/anthropic.js";
import { ModelError, type ModelRequest } from "../../../src/agent/model/types.js";
import { type MessagesServer, type ServerTurn, startMessagesServer } from "../../helpers/messages-server.js";

let server: MessagesServer;
afterEach(() => server?.close());

const request: ModelRequest = {
  model: "some-model",
  max_tokens: 10,
  messages: [{ role: "user", content: "hi" }],
};

async function collect(
  turn: ServerTurn,
  options: Partial<Parameters<typeof createAnthropicModel>[0]> = { apiKey: "k" },
): Promise<string[]> {
  server = await startMessagesServer({ turns: [turn] });
  const model = createAnthropicModel({ label: "some-model", baseUrl: server.url, ...options });
  const types: string[] = [];
  for await (const event of model.stream(request, new AbortController().signal)) types.push(event.type);
  return types;
}

test("the API's own events come through, pings aside", async () => {
  const types = await collect({ text: "hello", pings: { after: 2, everyMs: 1, times: 2 } });
  expect(types).toEqual([
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
  expect(server.requests[0]?.path).toBe("/v1/messages");
  expect(server.requests[0]?.headers["x-stainless-retry-count"]).toBe("0");
});

test("credentials are those given and no others", async () => {
  vi.stubEnv("ANTHROPIC_API_KEY", "from-env");
  vi.stubEnv("ANTHROPIC_AUTH_TOKEN", "from-env");
  try {
    await collect({ text: "x" }, { authToken: "tok" });
    expect(server.requests[0]?.headers.authorization).toBe("Bearer tok");
    await server.close();
    await collect({ text: "x" }, {});
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
    expect(server.requests[0]?.headers["x-api-key"]).toBeUndefined();
  } finally {
    vi.unstubAllEnvs();
  }
});

test("without key and base URL there is no model", () => {
  expect(() => createAnthropicModel({ label: "m" })).toThrow(
    expect.objectContaining({ code: "no-credentials", kind: "usage" }),
  );
});

test("options from an environment; empty variables are none", () => {
  expect(
    anthropicOptions({ ANTHROPIC_API_KEY: "k", ANTHROPIC_AUTH_TOKEN: "", ANTHROPIC_BASE_URL: "http://h" }),
  ).toEqual({ apiKey: "k", baseUrl: "http://h" });
});

test("a stream that falls silent is lost, and may be asked for again", async () => {
  const lost = collect({ text: "hello", hangAfter: 3 }, { idleTimeoutMs: 150 });
  await expect(lost).rejects.toMatchObject({
    code: "connection",
    message: expect.stringContaining("sent nothing for 0.15 s"),
    options: { retryable: true },
  });
});

test("a server that never answers is lost too", async () => {
  server = await startMessagesServer({ turns: () => new Promise(() => {}) });
  const model = createAnthropicModel({ label: "m", baseUrl: server.url, idleTimeoutMs: 150 });
  const first = model.stream(request, new AbortController().signal)[Symbol.asyncIterator]().next();
  await expect(first).rejects.toMatchObject({ code: "connection" });
});

test("pings keep a slow answer alive", async () => {
  const types = await collect(
    { text: "slow", pings: { after: 2, everyMs: 150, times: 8 } },
    { idleTimeoutMs: 1000 },
  );
  expect(types.at(-1)).toBe("message_stop");
});

test("an abort ends the stream with the signal's reason", async () => {
  server = await startMessagesServer({ turns: [{ text: "hello", hangAfter: 3 }] });
  const model = createAnthropicModel({ label: "m", baseUrl: server.url });
  const abort = new AbortController();
  const reason = new Error("enough");
  const read = async () => {
    for await (const event of model.stream(request, abort.signal))
      if (event.type === "content_block_delta") abort.abort(reason);
  };
  await expect(read()).rejects.toBe(reason);
});

test("a consumer that stops reading ends the request", async () => {
  server = await startMessagesServer({ turns: [{ text: "hello", hangAfter: 3 }] });
  const model = createAnthropicModel({ label: "m", baseUrl: server.url });
  for await (const event of model.stream(request, new AbortController().signal))
    if (event.type === "content_block_delta") break;
  await expect.poll(() => server.aborted()).toBe(1);
});

test("nothing is written to the console, whatever goes wrong", async () => {
  vi.stubEnv("ANTHROPIC_LOG", "debug");
  const methods = (["log", "warn", "error", "info", "debug"] as const).map((name) =>
    vi.spyOn(console, name).mockImplementation(() => {}),
  );
  try {
    await expect(collect({ status: 500, message: "broken" })).rejects.toBeInstanceOf(ModelError);
    for (const method of methods) expect(method).not.toHaveBeenCalled();
  } finally {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  }
});
