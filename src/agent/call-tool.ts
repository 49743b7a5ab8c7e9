import type {
  ToolResultBlockParam,
  ToolUseBlockParam,
} from "@anthropic-ai/sdk/resources/messages/messages.js";
import { messageOf } from "../util/errors.js";
import { oneLine } from "../util/text.js";
import { orAbort } from "../util/wait.js";
import { interruptedResult } from "./conversation.js";
import type { AgentEvent } from "./events.js";
import type { PermissionPort, Tool, ToolContext, ToolResult } from "./tool.js";

export interface ToolRunner {
  readonly tools: readonly Tool[];
  readonly permissions: PermissionPort;
  readonly context: Omit<ToolContext, "signal" | "toolUseId">;
  readonly emit: (event: AgentEvent) => void;
}

/** A call whose tool was found and whose input fits, or the reason why not. */
export type PreparedCall =
  | {
      readonly call: ToolUseBlockParam;
      readonly tool: Tool;
      readonly input: unknown;
      readonly readOnly: boolean;
      readonly summary: string;
    }
  | { readonly call: ToolUseBlockParam; readonly refusal: string };

/** Finds the tool and checks the input. Never throws: what is wrong becomes the refusal that the model reads. */
export function prepareCall(call: ToolUseBlockParam, tools: readonly Tool[]): PreparedCall {
  const tool = tools.find(({ name }) => name === call.name);
  if (tool === undefined) {
    const names = tools.map(({ name }) => name).join(", ");
    return {
      call,
      refusal: `There is no tool ${call.name}. ${names === "" ? "There are no tools." : `Tools: ${names}.`}`,
    };
  }
  try {
    const parsed = tool.schema.safeParse(call.input);
    if (!parsed.success) {
      const faults = parsed.error.issues.map(
        ({ path, message }) => `${path.join(".") || "input"}: ${message}`,
      );
      return { call, refusal: `The input does not fit ${tool.name}. ${faults.join("; ")}` };
    }
    const input = parsed.data;
    return { call, tool, input, readOnly: tool.isReadOnly(input), summary: oneLine(tool.summarise(input)) };
  } catch (error) {
    return { call, refusal: `${tool.name} failed: ${messageOf(error)}` };
  }
}

/**
 * Asks for permission, runs the tool and tells about it. Never throws: a refusal, a denial, a thrown error and an abort
 * are error results. After an abort it returns at once, also if the tool does not listen.
 */
export async function callTool(
  prepared: PreparedCall,
  runner: ToolRunner,
  turn: AbortSignal,
): Promise<ToolResultBlockParam> {
  const { call } = prepared;
  // A signal for each call: many listeners of calls side by side would count as a leak of the turn's.
  const signal = AbortSignal.any([turn]);
  if (signal.aborted) return interruptedResult(call, false);
  const started = performance.now();
  const start = (summary: string) =>
    runner.emit({ type: "tool-start", id: call.id, tool: call.name, summary });
  const end = (summary: string, { content, isError = false }: ToolResult): ToolResultBlockParam => {
    const durationMs = performance.now() - started;
    const result = firstLine(content);
    runner.emit({ type: "tool-end", id: call.id, tool: call.name, summary, isError, durationMs, result });
    return resultBlock(call, { content, isError });
  };

  if ("refusal" in prepared) {
    start("");
    return end("", { content: prepared.refusal, isError: true });
  }
  const { tool, input, summary } = prepared;
  const denial = await denialOf(prepared, runner, signal);
  if (signal.aborted) return interruptedResult(call, false);
  if (denial !== undefined) {
    runner.emit({ type: "denied", tool: tool.name, summary, reason: oneLine(denial) });
    return resultBlock(call, { content: `Not allowed: ${denial}`, isError: true });
  }
  start(summary);
  try {
    const context: ToolContext = { ...runner.context, toolUseId: call.id, signal };
    return end(summary, await orAbort(tool.run(input, context), signal));
  } catch (error) {
    if (!signal.aborted)
      return end(summary, { content: `${tool.name} failed: ${messageOf(error)}`, isError: true });
    const interrupted = interruptedResult(call, true);
    end(summary, { content: "interrupted", isError: true });
    return interrupted;
  }
}

/** The reason why the call may not run, or undefined if it may. */
async function denialOf(
  { tool, input }: Extract<PreparedCall, { tool: Tool }>,
  { permissions, context: { cwd, addedDirs } }: ToolRunner,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const decision = await orAbort(permissions.decide({ tool, input, cwd, addedDirs }, signal), signal);
    return decision.behaviour === "deny" ? decision.reason : undefined;
  } catch (error) {
    return `the permission could not be decided: ${messageOf(error)}`;
  }
}

function resultBlock(
  call: ToolUseBlockParam,
  { content, isError = false }: ToolResult,
): ToolResultBlockParam {
  return {
    type: "tool_result",
    tool_use_id: call.id,
    content: content === "" ? "(no output)" : content,
    ...(isError ? { is_error: true } : {}),
  };
}

function firstLine(content: string): string {
  return oneLine(content.trimStart().split("\n", 1)[0] ?? "");
}
