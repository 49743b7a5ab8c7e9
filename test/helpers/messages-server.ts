import http from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** An answer of the model. */
export interface Reply {
  readonly text?: string;
  readonly thinking?: string;
  readonly tools?: readonly { readonly name: string; readonly input: unknown; readonly id?: string }[];
  /** Default: `tool_use` with tools, else `end_turn`. */
  readonly stopReason?: string;
  readonly usage?: Readonly<Record<string, number>> | null;
  /** Pause before each event, in milliseconds. */
  readonly delayMs?: number;
  /** Sends that many events, then drops the connection: what the client has not read by then is lost to it. */
  readonly cutAfter?: number;
  /** Awaited before the cut, for instance until the client has read. */
  readonly beforeCut?: () => Promise<unknown>;
  /** Sends that many events, then nothing more; the connection stays open. */
  readonly hangAfter?: number;
  /** As `hangAfter`, with a `ping` every so many milliseconds for `pings` times, and then the rest. */
  readonly pings?: { readonly after: number; readonly everyMs: number; readonly times: number };
  /** Sends that many events, then this `error` event. */
  readonly errorAfter?: { readonly events: number; readonly type: string; readonly message: string };
  /** Takes the place of the tools' input JSON. */
  readonly rawInput?: string;
}

/** A refusal, or bytes that are no answer at all. */
export interface Fault {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly message?: string;
  /** Takes the place of the error body; with status 200 and a content type of its own, anything goes. */
  readonly body?: string;
}

export type ServerTurn = Reply | Fault;

export interface LoggedRequest {
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into requests as deep as they like
  readonly body: any;
}

export interface MessagesServer {
  readonly url: string;
  /** Every request, in order of arrival. */
  readonly requests: readonly LoggedRequest[];
  /** Requests that the script had no turn for; they were answered with 500. */
  readonly unexpected: readonly LoggedRequest[];
  /** Connections that clients ended before the answer did. */
  readonly aborted: () => number;
  close(): Promise<void>;
}

/**
 * A server on loopback that speaks the Messages API with streaming. `turns` is the script, one turn a request in order
 * of arrival, or a function of the request and its index. A request past the script gets a 500 that says so.
 */
export async function startMessagesServer({
  turns,
  port = 0,
}: {
  readonly turns:
    | readonly ServerTurn[]
    | ((request: LoggedRequest, index: number) => ServerTurn | undefined | Promise<ServerTurn | undefined>);
  readonly port?: number;
}): Promise<MessagesServer> {
  const requests: LoggedRequest[] = [];
  const unexpected: LoggedRequest[] = [];
  let aborted = 0;
  const server = http.createServer(async (incoming, response) => {
    response.on("close", () => {
      if (!response.writableFinished) aborted++;
    });
    const request = {
      path: incoming.url ?? "",
      headers: incoming.headers,
      body: JSON.parse((await readAll(incoming)) || "{}"),
    };
    const index = requests.push(request) - 1;
    const turn = typeof turns === "function" ? await turns(request, index) : turns[index];
    if (turn === undefined) {
      unexpected.push(request);
      refuse(response, { status: 500, message: `the script has no turn for request ${index + 1}` });
    } else if ("status" in turn) refuse(response, turn);
    else await play(response, turn, index, String(request.body.model));
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    unexpected,
    aborted: () => aborted,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readAll(incoming: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function refuse(response: http.ServerResponse, { status, headers, message, body }: Fault): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(body ?? JSON.stringify({ type: "error", error: { type: errorType(status), message } }));
}

function errorType(status: number): string {
  const types: Record<number, string> = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
  };
  return types[status] ?? "api_error";
}

async function play(
  response: http.ServerResponse,
  reply: Reply,
  index: number,
  model: string,
): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream", "request-id": `req_${index}` });
  response.flushHeaders();
  for (const [sent, event] of events(reply, index, model).entries()) {
    if (sent === reply.cutAfter) {
      await reply.beforeCut?.();
      return void response.destroy();
    }
    if (sent === reply.hangAfter) return;
    if (sent === reply.pings?.after)
      for (let i = 0; i < reply.pings.times; i++) {
        await sleep(reply.pings.everyMs);
        send(response, { type: "ping" });
      }
    if (sent === reply.errorAfter?.events) {
      const { type, message } = reply.errorAfter;
      send(response, { type: "error", error: { type, message } });
      return void response.end();
    }
    if (reply.delayMs !== undefined) await sleep(reply.delayMs);
    send(response, event);
  }
  response.end();
}

function send(response: http.ServerResponse, event: { type: string; [field: string]: unknown }): void {
  response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

function events(reply: Reply, index: number, model: string): { type: string; [field: string]: unknown }[] {
  const { thinking, text, tools = [], usage = { input_tokens: 10, output_tokens: 5 } } = reply;
  const blocks: { start: unknown; deltas: unknown[] }[] = [];
  if (thinking !== undefined)
    blocks.push({
      start: { type: "thinking", thinking: "", signature: "" },
      deltas: [
        { type: "thinking_delta", thinking },
        { type: "signature_delta", signature: "sig" },
      ],
    });
  if (text !== undefined)
    blocks.push({
      start: { type: "text", text: "", citations: null },
      deltas: halves(text).map((part) => ({ type: "text_delta", text: part })),
    });
  for (const [i, { name, input, id }] of tools.entries())
    blocks.push({
      start: { type: "tool_use", id: id ?? `toolu_${index}_${i}`, name, input: {} },
      deltas: halves(reply.rawInput ?? JSON.stringify(input)).map((part) => ({
        type: "input_json_delta",
        partial_json: part,
      })),
    });
  return [
    {
      type: "message_start",
      message: {
        id: `msg_${index}`,
        type: "message",
        role: "assistant",
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        ...(usage === null ? {} : { usage: { ...usage, output_tokens: 1 } }),
      },
    },
    ...blocks.flatMap(({ start, deltas }, i) => [
      { type: "content_block_start", index: i, content_block: start },
      ...deltas.map((delta) => ({ type: "content_block_delta", index: i, delta })),
      { type: "content_block_stop", index: i },
    ]),
    {
      type: "message_delta",
      delta: {
        stop_reason: reply.stopReason ?? (tools.length > 0 ? "tool_use" : "end_turn"),
        stop_sequence: null,
      },
      ...(usage === null ? {} : { usage: { output_tokens: usage["output_tokens"] ?? 0 } }),
    },
    { type: "message_stop" },
  ];
}

function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((part) => part !== "");
}
