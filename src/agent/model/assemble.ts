import type {
  ContentBlock,
  ContentBlockParam,
  RawContentBlockDelta,
  RawMessageStreamEvent,
  StopReason,
} from "@anthropic-ai/sdk/resources/messages/messages.js";
import type { Usage } from "../events.js";
import { ModelError } from "./types.js";

/** An answer as far as it came. */
export interface Assembled {
  /** Whole blocks in order, as they go back to the model; a block that was cut off is left out, but for its text. */
  readonly content: readonly ContentBlockParam[];
  /** Tool calls that were begun and whose input never became whole: their names. */
  readonly cutCalls: readonly string[];
  readonly stopReason: StopReason | null;
  readonly usage: Usage;
}

/** What one event meant for a viewer. */
export type AssembledDelta = { readonly type: "text"; readonly text: string } | { readonly type: "text-end" };

export interface Assembler {
  /** Takes the next event of the stream. Throws ModelError `protocol` if it does not fit what came before. */
  accept(event: RawMessageStreamEvent): readonly AssembledDelta[];
  /** The answer so far; also valid when the stream was cut off. */
  assembled(): Assembled;
  /** True once `message_stop` has come. */
  readonly complete: boolean;
  /** True while a text block is open. */
  readonly speaking: boolean;
}

/** Puts the events of one stream together. Unknown event types are passed over, as the API asks of its clients. */
export function createAssembler(): Assembler {
  const blocks: OpenBlock[] = [];
  let usage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  let stopReason: StopReason | null = null;
  let started = false;
  let complete = false;

  function accept(event: RawMessageStreamEvent): readonly AssembledDelta[] {
    if (event.type === "message_start") {
      if (started) throw malformed("a second message_start");
      started = true;
      usage = mergeUsage(usage, event.message?.usage);
      return [];
    }
    if (!started && isKnown(event.type)) throw malformed(`${event.type} before message_start`);
    switch (event.type) {
      case "content_block_start":
        if (typeof event.content_block?.type !== "string" || event.index !== blocks.length)
          throw malformed(`content_block_start ${String(event.index)} after ${blocks.length} blocks`);
        return openBlock(blocks, event.content_block);
      case "content_block_delta": {
        const open = blocks[event.index];
        if (open === undefined || open.done) throw malformed(`a delta for block ${String(event.index)}`);
        return applyDelta(open, event.delta);
      }
      case "content_block_stop": {
        const open = blocks[event.index];
        if (open === undefined || open.done) throw malformed(`the end of block ${String(event.index)}`);
        open.done = true;
        return open.block.type === "text" ? [{ type: "text-end" }] : [];
      }
      case "message_delta":
        stopReason = event.delta?.stop_reason ?? stopReason;
        usage = mergeUsage(usage, event.usage);
        return [];
      case "message_stop":
        complete = true;
        return [];
      default:
        return [];
    }
  }

  return {
    accept,
    assembled: () => ({ ...collect(blocks), stopReason, usage }),
    get complete() {
      return complete;
    },
    get speaking() {
      const last = blocks.at(-1);
      return last?.block.type === "text" && !last.done;
    },
  };
}

interface OpenBlock {
  block: ContentBlock;
  /** Input of a tool call, as JSON in parts. */
  json: string;
  done: boolean;
}

function openBlock(blocks: OpenBlock[], given: ContentBlock): readonly AssembledDelta[] {
  const block = { ...given };
  if (block.type === "text" && !isText(block.text)) block.text = "";
  if (block.type === "thinking") {
    if (!isText(block.thinking)) block.thinking = "";
    if (!isText(block.signature)) block.signature = "";
  }
  if (block.type === "tool_use" && !(isText(block.id) && isText(block.name)))
    throw malformed("a tool call without id or name");
  blocks.push({ block, json: "", done: false });
  return block.type === "text" && block.text !== "" ? [{ type: "text", text: block.text }] : [];
}

function applyDelta(open: OpenBlock, delta: RawContentBlockDelta): readonly AssembledDelta[] {
  const { block } = open;
  switch (delta?.type) {
    case "text_delta":
      if (block.type !== "text" || !isText(delta.text)) break;
      block.text += delta.text;
      return [{ type: "text", text: delta.text }];
    case "input_json_delta":
      if (!isText(delta.partial_json)) break;
      open.json += delta.partial_json;
      return [];
    case "thinking_delta":
      if (block.type !== "thinking" || !isText(delta.thinking)) break;
      block.thinking += delta.thinking;
      return [];
    case "signature_delta":
      if (block.type !== "thinking" || !isText(delta.signature)) break;
      block.signature += delta.signature;
      return [];
    case "citations_delta":
      if (block.type !== "text") break;
      block.citations = [...(block.citations ?? []), delta.citation];
      return [];
  }
  throw malformed(`a ${String(delta?.type)} for a block of type ${block.type}`);
}

/** The blocks that can go back to the model, and the tool calls that cannot. */
function collect(blocks: readonly OpenBlock[]): Pick<Assembled, "content" | "cutCalls"> {
  const content: ContentBlockParam[] = [];
  const cutCalls: string[] = [];
  for (const { block, json, done } of blocks) {
    if (block.type === "text") {
      if (block.text.trim() !== "") content.push({ ...block });
    } else if (block.type === "tool_use" || block.type === "server_tool_use") {
      const input = done ? parseInput(json, block.input) : undefined;
      if (input !== undefined) content.push({ ...block, input } as ContentBlockParam);
      else if (block.type === "tool_use") cutCalls.push(block.name);
    } else if (done && !(block.type === "thinking" && block.signature === "")) {
      content.push(block as ContentBlockParam);
    }
  }
  return { content, cutCalls };
}

function parseInput(json: string, initial: unknown): unknown {
  if (json.trim() === "") return isObject(initial) ? initial : {};
  try {
    const input: unknown = JSON.parse(json);
    return isObject(input) ? input : undefined;
  } catch {
    return undefined;
  }
}

/** Later counts are cumulative and take the place of earlier ones; a server may leave any of them out. */
function mergeUsage(usage: Usage, counts: Partial<RawUsage> | null | undefined): Usage {
  const count = (given: unknown, before: number) => (typeof given === "number" ? given : before);
  return {
    input: count(counts?.input_tokens, usage.input),
    output: count(counts?.output_tokens, usage.output),
    cacheRead: count(counts?.cache_read_input_tokens, usage.cacheRead),
    cacheWrite: count(counts?.cache_creation_input_tokens, usage.cacheWrite),
  };
}

interface RawUsage {
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cache_read_input_tokens: number | null;
  readonly cache_creation_input_tokens: number | null;
}

function isKnown(type: string): boolean {
  return /^(content_block_(start|delta|stop)|message_(delta|stop))$/.test(type);
}

/** The types say so already; a server may not. */
function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function malformed(what: string): ModelError {
  return new ModelError("protocol", `the answer is not a Messages API stream: ${what}`, { retryable: false });
}
