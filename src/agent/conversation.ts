import type {
  ContentBlockParam,
  MessageParam,
  ToolResultBlockParam,
  ToolUseBlockParam,
} from "@anthropic-ai/sdk/resources/messages/messages.js";

/** A user message: the results of the last answer's tool calls, and behind them what arrived meanwhile. */
export function userMessage(
  results: readonly ToolResultBlockParam[],
  texts: readonly string[],
): MessageParam {
  // The API refuses blank text blocks.
  const blocks = texts.filter((text) => text.trim() !== "").map((text) => ({ type: "text" as const, text }));
  return { role: "user", content: [...results, ...blocks] };
}

/** The content of a message as blocks. */
export function blocksOf(message: MessageParam): readonly ContentBlockParam[] {
  return typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
}

/** The text of a message, its text blocks joined by blank lines; empty if it has none. */
export function textOf(message: MessageParam): string {
  return blocksOf(message)
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n\n")
    .trim();
}

/** The tool calls of a message, in order. */
export function callsOf(message: MessageParam): readonly ToolUseBlockParam[] {
  return blocksOf(message).filter((block) => block.type === "tool_use");
}

/** An assistant message that the API would refuse: nothing in it but thinking and blank text. */
export function isBlank(message: MessageParam): boolean {
  return blocksOf(message).every(
    (block) =>
      block.type === "thinking" ||
      block.type === "redacted_thinking" ||
      (block.type === "text" && block.text.trim() === ""),
  );
}

/** The calls of the last message that have no results yet. */
export function openCalls(conversation: readonly MessageParam[]): readonly ToolUseBlockParam[] {
  const last = conversation.at(-1);
  return last?.role === "assistant" ? callsOf(last) : [];
}

/** The result of a call that was never run, or whose end nobody saw. */
export function interruptedResult(call: ToolUseBlockParam, started: boolean): ToolResultBlockParam {
  return {
    type: "tool_result",
    tool_use_id: call.id,
    is_error: true,
    content: started
      ? "Interrupted before it finished; it may have taken effect in part."
      : "Interrupted before it was run.",
  };
}

/**
 * A conversation that a server accepts, whatever interrupted it: blank assistant messages are left out, calls without
 * results get interrupted ones, results without calls are left out. A last user message without answer stays.
 */
export function repairConversation(conversation: readonly MessageParam[]): MessageParam[] {
  const repaired: MessageParam[] = [];
  for (const message of conversation) {
    if (message.role === "assistant") {
      if (isBlank(message)) continue;
      closeCalls(repaired, []);
      repaired.push(message);
    } else if (message.role === "user") {
      const blocks = blocksOf(message);
      const results = blocks.filter((block) => block.type === "tool_result");
      const closed = closeCalls(repaired, results);
      const rest = blocks.filter((block) => block.type !== "tool_result");
      if (closed && rest.length === 0) continue;
      if (closed) {
        const own = repaired.pop();
        repaired.push({ role: "user", content: [...(own === undefined ? [] : blocksOf(own)), ...rest] });
      } else if (rest.length > 0) repaired.push({ role: "user", content: [...rest] });
    } else repaired.push(message);
  }
  closeCalls(repaired, []);
  return repaired;
}

/** Answers the open calls at the end with those of `results` that fit; true if there were any. */
function closeCalls(conversation: MessageParam[], results: readonly ToolResultBlockParam[]): boolean {
  const calls = openCalls(conversation);
  if (calls.length === 0) return false;
  conversation.push({
    role: "user",
    content: calls.map(
      (call) => results.find((result) => result.tool_use_id === call.id) ?? interruptedResult(call, true),
    ),
  });
  return true;
}

/**
 * The conversation as it is sent: neighbours of one role are one message, since not every server takes them apart.
 * Shares blocks with `conversation` and leaves it as it is.
 */
export function requestMessages(conversation: readonly MessageParam[]): MessageParam[] {
  const messages: MessageParam[] = [];
  for (const message of conversation) {
    const last = messages.at(-1);
    if (last === undefined || message.role === "system" || last.role !== message.role) messages.push(message);
    else messages[messages.length - 1] = { ...last, content: [...blocksOf(last), ...blocksOf(message)] };
  }
  return messages;
}
