import { randomUUID } from "node:crypto";
import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages/messages.js";

/** What the offline model says in one answer. */
export interface ScriptedAnswer {
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly tool: string; readonly input: unknown }[];
}

/**
 * The events with which the API would stream the answer: text and tool input in several parts. No token was counted
 * by anybody, so all counts are zero.
 */
export function* streamEvents(answer: ScriptedAnswer, model: string): Generator<RawMessageStreamEvent> {
  yield {
    type: "message_start",
    message: {
      id: `msg_offline_${randomUUID()}`,
      type: "message",
      role: "assistant",
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 0, output_tokens: 0 },
    },
  } as unknown as RawMessageStreamEvent;
  let index = 0;
  if (answer.text.trim() !== "") {
    yield start(index, { type: "text", text: "", citations: null });
    for (const text of textParts(answer.text))
      yield { type: "content_block_delta", index, delta: { type: "text_delta", text } };
    yield { type: "content_block_stop", index };
    index++;
  }
  for (const { id, tool, input } of answer.calls) {
    yield start(index, { type: "tool_use", id, name: tool, input: {} });
    for (const json of jsonParts(JSON.stringify(input)))
      yield { type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: json } };
    yield { type: "content_block_stop", index };
    index++;
  }
  const stopReason = answer.calls.length > 0 ? "tool_use" : "end_turn";
  yield {
    type: "message_delta",
    delta: { stop_reason: stopReason, stop_sequence: null },
    usage: { output_tokens: 0 },
  } as unknown as RawMessageStreamEvent;
  yield { type: "message_stop" };
}

function start(index: number, block: object): RawMessageStreamEvent {
  return { type: "content_block_start", index, content_block: block } as RawMessageStreamEvent;
}

/** A few words at a time, as one can watch them come. */
function textParts(text: string): readonly string[] {
  return text.match(/[\s\S]{1,24}(?:\s+|$)|\S{1,24}/g) ?? [text];
}

function jsonParts(json: string): readonly string[] {
  const middle = Math.ceil(json.length / 2);
  return [json.slice(0, middle), json.slice(middle)].filter((part) => part !== "");
}
