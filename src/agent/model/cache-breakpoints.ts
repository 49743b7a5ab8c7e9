import type {
  CacheControlEphemeral,
  ContentBlockParam,
  MessageParam,
} from "@anthropic-ai/sdk/resources/messages/messages.js";
import type { ModelRequest } from "./types.js";

/**
 * The request with cache breakpoints after its tools, its system prompt and its conversation, so that the next request
 * pays only for what is new. Marks that are there already go: the API takes at most four. `request` stays as it is.
 */
export function withCacheBreakpoints(request: ModelRequest): ModelRequest {
  const { tools, system, messages } = request;
  return {
    ...request,
    ...(tools === undefined ? {} : { tools: marked(tools) }),
    ...(system === undefined
      ? {}
      : { system: marked(typeof system === "string" ? [{ type: "text" as const, text: system }] : system) }),
    messages: markedConversation(messages),
  };
}

const mark: CacheControlEphemeral = { type: "ephemeral" };

/** A copy whose last item alone carries the mark. */
function marked<T extends { cache_control?: CacheControlEphemeral | null }>(items: readonly T[]): T[] {
  return items.map(({ cache_control: _, ...item }, index) =>
    index === items.length - 1 ? ({ ...item, cache_control: mark } as T) : (item as T),
  );
}

function markedConversation(messages: readonly MessageParam[]): MessageParam[] {
  const at = messages.findLastIndex(({ content }) => typeof content === "string" || content.some(canCarry));
  return messages.map((message, index) => {
    if (message.role === "system" || (index !== at && typeof message.content === "string")) return message;
    const blocks: ContentBlockParam[] =
      typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
    const last = index === at ? blocks.findLastIndex(canCarry) : -1;
    return { ...message, content: blocks.map((block, i) => withMark(block, i === last)) };
  });
}

function withMark(block: ContentBlockParam, here: boolean): ContentBlockParam {
  if (!canCarry(block)) return block;
  const { cache_control: _, ...bare } = block as ContentBlockParam & { cache_control?: unknown };
  return (here ? { ...bare, cache_control: mark } : bare) as ContentBlockParam;
}

/** The API refuses a mark on thinking and on blank text. */
function canCarry(block: ContentBlockParam): boolean {
  return (
    block.type !== "thinking" &&
    block.type !== "redacted_thinking" &&
    !(block.type === "text" && block.text.trim() === "")
  );
}
