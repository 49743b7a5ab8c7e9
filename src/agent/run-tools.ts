import type {
  ToolResultBlockParam,
  ToolUseBlockParam,
} from "@anthropic-ai/sdk/resources/messages/messages.js";
import { callTool, type PreparedCall, prepareCall, type ToolRunner } from "./call-tool.js";

/** Reading calls that run at once; a model may ask for a hundred. */
const maxParallel = 10;

/**
 * Runs the calls of one answer: neighbours that only read side by side, the others one after another, all in the order
 * of the calls. One result for each call, in that order; never throws.
 */
export async function runTools(
  calls: readonly ToolUseBlockParam[],
  runner: ToolRunner,
  signal: AbortSignal,
): Promise<readonly ToolResultBlockParam[]> {
  const results: ToolResultBlockParam[] = [];
  for (const group of groupCalls(calls.map((call) => prepareCall(call, runner.tools))))
    results.push(...(await runGroup(group, runner, signal)));
  return results;
}

function groupCalls(calls: readonly PreparedCall[]): readonly (readonly PreparedCall[])[] {
  const groups: PreparedCall[][] = [];
  let open: PreparedCall[] | undefined;
  for (const call of calls) {
    const parallel = "refusal" in call || call.readOnly;
    if (parallel && open !== undefined) open.push(call);
    else {
      const group = [call];
      groups.push(group);
      open = parallel ? group : undefined;
    }
  }
  return groups;
}

async function runGroup(
  group: readonly PreparedCall[],
  runner: ToolRunner,
  signal: AbortSignal,
): Promise<readonly ToolResultBlockParam[]> {
  const results: ToolResultBlockParam[] = [];
  const waiting = group.entries();
  const worker = async () => {
    for (const [index, call] of waiting) results[index] = await callTool(call, runner, signal);
  };
  await Promise.all(Array.from({ length: Math.min(maxParallel, group.length) }, worker));
  return results;
}
