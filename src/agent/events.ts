/** Token counts of one request, or summed over requests where the name says so. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** How one `query` ended. Expected endings are values, not exceptions. */
export interface QueryResult {
  readonly status: "completed" | "max-turns" | "aborted" | "refused" | "failed";
  /** Text of the last assistant message that has any; empty if none has. */
  readonly text: string;
  /** For `failed`: what went wrong, in one line, with the HTTP status where there is one. */
  readonly error?: { readonly code: string; readonly message: string; readonly status?: number };
  readonly turns: number;
  readonly toolUses: number;
  /** Sums over all requests of this query. */
  readonly billed: Usage;
  /** Input, cache read and cache write of the latest request. */
  readonly context: number;
  /** Ids of messages in the conversation that no answer has covered (abort, failure); give them to the next query. */
  readonly unanswered?: readonly string[];
}

/** What an agent does, as it does it. One union for views, logs and events; nothing in it is addressed to the model. */
export type AgentEvent =
  | { readonly type: "turn-start"; readonly turn: number; readonly model: string; readonly scripted: boolean }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "text-end" }
  | { readonly type: "tool-start"; readonly id: string; readonly tool: string; readonly summary: string }
  | {
      readonly type: "tool-end";
      readonly id: string;
      readonly tool: string;
      readonly summary: string;
      readonly isError: boolean;
      readonly durationMs: number;
      /** First line of the result, for people. */
      readonly result: string;
    }
  /** Takes the place of `tool-start` and `tool-end` for a call that may not run. */
  | { readonly type: "denied"; readonly tool: string; readonly summary: string; readonly reason: string }
  | { readonly type: "message-in"; readonly ids: readonly string[]; readonly labels: readonly string[] }
  /** A request is sent again after `waitMs`; status 0 where there was no HTTP answer. */
  | { readonly type: "retry"; readonly status: number; readonly waitMs: number; readonly attempt: number }
  | {
      readonly type: "turn-end";
      readonly turn: number;
      readonly firstTokenMs: number;
      readonly durationMs: number;
      readonly usage: Usage;
      readonly stopReason: string;
    }
  | { readonly type: "notice"; readonly level: "info" | "warning"; readonly text: string }
  | { readonly type: "result"; readonly result: QueryResult };
