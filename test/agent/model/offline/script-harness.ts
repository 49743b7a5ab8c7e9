import type { MessageParam } from "@anthropic-ai/sdk/resources/messages/messages.js";
import type { QueryResult } from "../../../../src/agent/events.js";
import { createBackoff } from "../../../../src/agent/model/backoff.js";
import { createOfflineModel, type OfflineScript } from "../../../../src/agent/model/offline.js";
import type { IncomingMessage } from "../../../../src/agent/ports.js";
import { type QueryParams, query } from "../../../../src/agent/query.js";

/** Runs one query of the offline model with the tools given; everything is allowed. */
export async function play(
  options: {
    readonly script: OfflineScript;
    readonly agent: string;
    readonly conversation: MessageParam[];
    readonly input: readonly IncomingMessage[];
  } & Partial<QueryParams>,
): Promise<QueryResult> {
  const { script, agent, ...params } = options;
  const generator = query({
    model: createOfflineModel({ script, agentKeys: [agent], delayMs: 0 }),
    modelId: "offline",
    system: "",
    tools: [],
    permissions: { mode: "default", decide: async () => ({ behaviour: "allow" }) },
    messages: { take: async () => [], answered: async () => {} },
    transcript: { append: async () => {} },
    toolContext: {
      cwd: "/",
      env: {},
      addedDirs: [],
      outputDir: "/",
      files: { get: () => undefined, set: () => {} },
    },
    backoff: createBackoff(),
    maxTurns: 20,
    maxTokens: 1000,
    signal: new AbortController().signal,
    ...params,
  });
  for (;;) {
    const { done, value } = await generator.next();
    if (done) return value;
  }
}
