import type { MessageParam } from "@anthropic-ai/sdk/resources/messages/messages.js";
import { z } from "zod";
import type { AgentEvent, QueryResult } from "../../src/agent/events.js";
import { createAnthropicModel } from "../../src/agent/model/anthropic.js";
import { createBackoff } from "../../src/agent/model/backoff.js";
import type { IncomingMessage, TranscriptRecord } from "../../src/agent/ports.js";
import { type QueryParams, query } from "../../src/agent/query.js";
import type { Tool, ToolContext } from "../../src/agent/tool.js";
import { type MessagesServer, type ServerTurn, startMessagesServer } from "../helpers/messages-server.js";

/** A query against a scripted server with the real SDK; everything that happens is in `log`, in order. */
export interface Harness {
  readonly server: MessagesServer;
  readonly conversation: MessageParam[];
  readonly records: TranscriptRecord[];
  readonly log: string[];
  /** What `messages.take` gives next; each entry is one call's worth. */
  readonly mail: IncomingMessage[][];
  readonly events: AgentEvent[];
  /** How many stream events the query has taken from the model. */
  received(): number;
  start(params?: Partial<QueryParams>): AsyncGenerator<AgentEvent, QueryResult>;
  /** As `start`, read to its end; the events are in `events`. */
  run(params?: Partial<QueryParams>): Promise<QueryResult>;
  close(): Promise<void>;
}

export async function createHarness(
  turns: Parameters<typeof startMessagesServer>[0]["turns"],
): Promise<Harness> {
  const log: string[] = [];
  const server = await startMessagesServer({
    turns: (request, index) => {
      log.push("request");
      return typeof turns === "function" ? turns(request, index) : (turns[index] as ServerTurn | undefined);
    },
  });
  const conversation: MessageParam[] = [];
  const records: TranscriptRecord[] = [];
  const mail: IncomingMessage[][] = [];
  const events: AgentEvent[] = [];
  let received = 0;
  const start: Harness["start"] = (params = {}) => {
    const model = createAnthropicModel({ apiKey: "sk-secret", baseUrl: server.url, label: "test-model" });
    return query({
      model: {
        ...model,
        async *stream(request, signal) {
          for await (const event of model.stream(request, signal)) {
            yield event;
            received++;
          }
        },
      },
      modelId: "test-model",
      system: "Be brief.",
      conversation,
      input: [message("m1", "hello")],
      tools: [],
      permissions: { mode: "default", decide: async () => ({ behaviour: "allow" }) },
      messages: {
        take: async () => {
          log.push("take");
          return mail.shift() ?? [];
        },
        answered: async (ids) => void log.push(`answered ${ids.join(",")}`),
      },
      transcript: {
        append: async (record) => {
          log.push(record.type === "user" ? `user ${record.messageIds.join(",")}` : "assistant");
          records.push(record);
        },
      },
      toolContext: {
        cwd: "/",
        env: {},
        addedDirs: [],
        outputDir: "/",
        files: { get: () => undefined, set: () => {} },
      },
      backoff: createBackoff({ baseMs: 1, maxMs: 2 }),
      maxTurns: 10,
      maxTokens: 1000,
      signal: new AbortController().signal,
      ...params,
    });
  };
  return {
    server,
    conversation,
    records,
    log,
    mail,
    events,
    received: () => received,
    start,
    async run(params) {
      const generator = start(params);
      for (;;) {
        const { done, value } = await generator.next();
        if (done) return value;
        events.push(value);
      }
    },
    close: () => server.close(),
  };
}

export function message(id: string, text: string): IncomingMessage {
  return { id, text, label: `message ${id}` };
}

/** A tool that answers with what `run` gives; its input is `{ value }`. */
export function tool(
  name: string,
  run: (value: string, context: ToolContext) => Promise<string>,
  { readOnly = true }: { readOnly?: boolean } = {},
): Tool {
  const schema = z.object({ value: z.string() });
  return {
    name,
    description: `The tool ${name}.`,
    schema,
    isReadOnly: () => readOnly,
    summarise: (input) => (input as z.infer<typeof schema>).value,
    run: async (input, context) => ({ content: await run((input as z.infer<typeof schema>).value, context) }),
  };
}
