import type {
  ContentBlockParam,
  MessageParam,
  StopReason,
  ToolResultBlockParam,
} from "@anthropic-ai/sdk/resources/messages/messages.js";
import {
  callsOf,
  interruptedResult,
  isBlank,
  openCalls,
  requestMessages,
  textOf,
  userMessage,
} from "./conversation.js";
import type { AgentEvent, QueryResult } from "./events.js";
import type { Assembled } from "./model/assemble.js";
import type { Backoff } from "./model/backoff.js";
import { type ModelClient, ModelError } from "./model/types.js";
import type { IncomingMessage, MessagePort, Transcript } from "./ports.js";
import { relay } from "./relay.js";
import { defaultLimits, type RequestLimits, requestTurn } from "./request-turn.js";
import { runTools } from "./run-tools.js";
import { createTally } from "./tally.js";
import type { PermissionPort, Tool, ToolContext } from "./tool.js";
import { toolParams } from "./tool-params.js";

export interface QueryParams {
  readonly model: ModelClient;
  /** Model id for the request, aliases resolved. */
  readonly modelId: string;
  readonly system: string;
  /** The conversation so far; the array is extended in place with every message of this query. Owned by the caller. */
  readonly conversation: MessageParam[];
  /** What opens this query: the prompt, or what arrived while the agent was idle. */
  readonly input: readonly IncomingMessage[];
  /** Ids of messages that are in `conversation` already without an answer: `unanswered` of an earlier result or transcript. */
  readonly unanswered?: readonly string[];
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
  /** Bounds of the retries of one request; default {@link defaultLimits}. */
  readonly limits?: RequestLimits;
  readonly signal: AbortSignal;
}

/** Answers in a row that the output limit may cut off, before the query fails. */
const maxCutAnswers = 3;

/**
 * The loop of every agent: a turn of the model, the tools it asked for, their results and what arrived meanwhile, until
 * the model stops. Order that holds: the user record, with the ids of its messages, is in the transcript before the
 * request; the assistant record after the answer; then `messages.answered`. When the model stops, `messages.take` is
 * asked once more and the loop goes on if there is something; whatever comes after that look is the caller's, who must
 * look again before it calls the agent idle.
 *
 * Every ending is a value and the last event; only what the transcript or the message port throws is thrown. After each
 * ending the conversation is valid for the next query: also on abort, which ends the stream and the tools at once.
 * A consumer that stops reading aborts the query.
 */
export async function* query(params: QueryParams): AsyncGenerator<AgentEvent, QueryResult> {
  const stopped = new AbortController();
  try {
    const result = yield* converse(params, AbortSignal.any([params.signal, stopped.signal]));
    yield { type: "result", result };
    return result;
  } finally {
    stopped.abort();
  }
}

async function* converse(params: QueryParams, signal: AbortSignal): AsyncGenerator<AgentEvent, QueryResult> {
  const { model, conversation, messages } = params;
  const tally = createTally(params.unanswered ?? []);
  const request = {
    model: params.modelId,
    max_tokens: params.maxTokens,
    ...(params.system === "" ? {} : { system: params.system }),
    ...(params.tools.length === 0 ? {} : { tools: toolParams(params.tools) }),
  };

  /** Records a user message and adds it to the conversation. */
  async function* hear(
    results: readonly ToolResultBlockParam[],
    arrived: readonly IncomingMessage[],
    notes: readonly string[] = [],
  ): AsyncGenerator<AgentEvent, void> {
    const message = userMessage(results, [...arrived.map(({ text }) => text), ...notes]);
    const ids = arrived.map(({ id }) => id);
    if (message.content.length === 0) return;
    await params.transcript.append({ type: "user", message, messageIds: ids });
    conversation.push(message);
    tally.heard(ids);
    if (ids.length > 0) yield { type: "message-in", ids, labels: arrived.map(({ label }) => label) };
  }

  /** Records an answer, adds it to the conversation unless it is blank, and acknowledges what it answers. */
  async function keep(content: readonly ContentBlockParam[], stopReason: string, answers: boolean) {
    const message: MessageParam = { role: "assistant", content: [...content] };
    await params.transcript.append({ type: "assistant", message, model: model.label, stopReason });
    if (!isBlank(message)) conversation.push(message);
    tally.said(textOf(message));
    if (!answers) return;
    const ids = tally.answered();
    if (ids.length > 0) await messages.answered(ids);
  }

  yield* hear(
    openCalls(conversation).map((call) => interruptedResult(call, true)),
    params.input,
  );
  let cutAnswers = 0;
  for (;;) {
    if (signal.aborted) return tally.result("aborted");
    if (tally.turns >= params.maxTurns) return tally.result("max-turns");
    const turn = tally.beginTurn();
    yield { type: "turn-start", turn, model: model.label, scripted: model.scripted };
    const outcome = yield* requestTurn(
      {
        model,
        request: { ...request, messages: requestMessages(conversation) },
        backoff: params.backoff,
        limits: params.limits ?? defaultLimits,
      },
      tally.billed,
      signal,
    );
    if (outcome.type === "failed") return tally.result("failed", outcome.error);
    if (outcome.type === "aborted") {
      const content = outcome.answer === undefined ? [] : salvage(outcome.answer.content);
      if (content.length > 0) await keep(content, "aborted", false);
      yield* hear(
        openCalls(conversation).map((call) => interruptedResult(call, false)),
        [],
      );
      return tally.result("aborted");
    }

    const { answer } = outcome;
    const stopReason = answer.stopReason ?? "none";
    const runs = !isFinal(answer.stopReason);
    await keep(runs ? answer.content : withoutCalls(answer.content), stopReason, true);
    const { firstTokenMs, durationMs } = outcome;
    yield { type: "turn-end", turn, firstTokenMs, durationMs, usage: answer.usage, stopReason };
    if (!runs) return ending(tally, answer.stopReason);

    const calls = callsOf({ role: "assistant", content: [...answer.content] });
    const more = tally.turns < params.maxTurns;
    cutAnswers = answer.stopReason === "max_tokens" || answer.cutCalls.length > 0 ? cutAnswers + 1 : 0;
    if (cutAnswers > maxCutAnswers) {
      yield* hear(
        calls.map((call) => interruptedResult(call, false)),
        [],
      );
      return tally.result("failed", cutTooOften(params.maxTokens));
    }
    const notes = cutNotes(answer, calls.length);
    if (calls.length > 0) {
      tally.called(calls.length);
      const results = yield* relay<AgentEvent, readonly ToolResultBlockParam[]>((emit, both) => {
        const { tools, permissions, toolContext: context } = params;
        return runTools(calls, { tools, permissions, context, emit }, both);
      }, signal);
      yield* hear(results, more && !signal.aborted ? await messages.take() : [], notes);
    } else if (notes.length > 0) {
      yield* hear([], more ? await messages.take() : [], notes);
    } else if (answer.stopReason !== "pause_turn") {
      const waiting = more ? await messages.take() : [];
      if (waiting.length === 0) return tally.result("completed");
      yield* hear([], waiting);
    }
  }
}

/** Stop reasons after which no tool is run and nothing more is asked. */
function isFinal(reason: StopReason | null): boolean {
  return reason === null || !goesOn.includes(reason);
}

const goesOn: readonly StopReason[] = ["end_turn", "stop_sequence", "tool_use", "pause_turn", "max_tokens"];

function ending(tally: ReturnType<typeof createTally>, reason: StopReason | null): QueryResult {
  if (reason === "refusal") return tally.result("refused");
  const error =
    reason === "model_context_window_exceeded"
      ? new ModelError("too-long", "the conversation has filled the model's context window", {
          retryable: false,
        })
      : new ModelError("protocol", `the model stopped for an unknown reason (${String(reason)})`, {
          retryable: false,
        });
  return tally.result("failed", error);
}

function withoutCalls(content: readonly ContentBlockParam[]): readonly ContentBlockParam[] {
  return content.filter(({ type }) => type !== "tool_use" && type !== "server_tool_use");
}

/** What of a broken-off answer can stand in a conversation: a server's own tool call without its result cannot. */
function salvage(content: readonly ContentBlockParam[]): readonly ContentBlockParam[] {
  const kept = content.filter(({ type }) => type !== "server_tool_use");
  return isBlank({ role: "assistant", content: kept }) ? [] : kept;
}

/** What the model is told about an answer that was cut off; nothing where its calls carry on by themselves. */
function cutNotes(answer: Assembled, calls: number): readonly string[] {
  if (answer.cutCalls.length > 0) {
    const names = answer.cutCalls.join(", ");
    return [
      `Your call of ${names} was not run: its input was cut off or is not valid JSON. Send it again, in smaller parts if it is long.`,
    ];
  }
  if (answer.stopReason !== "max_tokens" || calls > 0) return [];
  return ["Your answer was cut off by the output limit. Go on exactly where it stopped."];
}

function cutTooOften(maxTokens: number): ModelError {
  const message = `the output limit of ${maxTokens} tokens cut off ${maxCutAnswers + 1} answers in a row`;
  return new ModelError("max-tokens", message, { retryable: false });
}
