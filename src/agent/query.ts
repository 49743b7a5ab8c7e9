import type { MessageParam } from "@anthropic-ai/sdk/resources/messages/messages.js";
import type { AgentEvent, QueryResult } from "./events.js";
import type { Backoff } from "./model/backoff.js";
import type { ModelClient } from "./model/types.js";
import type { IncomingMessage, MessagePort, Transcript } from "./ports.js";
import type { PermissionPort, Tool, ToolContext } from "./tool.js";

export interface QueryParams {
  readonly model: ModelClient;
  /** Model id for the request, aliases resolved. */
  readonly modelId: string;
  readonly system: string;
  /** The conversation so far; the array is extended in place with every message of this query. Owned by the caller. */
  readonly conversation: MessageParam[];
  /** What opens this query: the prompt, or what arrived while the agent was idle. */
  readonly input: readonly IncomingMessage[];
  readonly tools: readonly Tool[];
  readonly permissions: PermissionPort;
  readonly messages: MessagePort;
  readonly transcript: Transcript;
  readonly toolContext: Omit<ToolContext, "signal" | "toolUseId">;
  readonly backoff: Backoff;
  /** Requests per query. */
  readonly maxTurns: number;
  /** Output tokens per request. */
  readonly maxTokens: number;
  readonly signal: AbortSignal;
}

export declare function query(params: QueryParams): AsyncGenerator<AgentEvent, QueryResult>;
