import type { MessageParam } from "@anthropic-ai/sdk/resources/messages/messages.js";
import { blocksOf } from "./conversation.js";

/**
 * Takes out of a conversation what came after its last answer, since no server will answer it, and gives that. With
 * `keepResults` the results of tool calls stay; without, the next query closes those calls as interrupted ones.
 */
export function withdrawUnanswered(conversation: MessageParam[], keepResults: boolean): MessageParam[] {
  const answered = conversation.findLastIndex(({ role }) => role === "assistant") + 1;
  const withdrawn = conversation.splice(answered);
  const results = withdrawn.flatMap(blocksOf).filter(({ type }) => type === "tool_result");
  if (keepResults && results.length > 0) conversation.push({ role: "user", content: results });
  return withdrawn;
}
