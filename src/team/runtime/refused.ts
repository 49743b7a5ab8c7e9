import type { MessageParam } from "@anthropic-ai/sdk/resources/messages/messages.js";
import { textOf } from "../../agent/conversation.js";
import type { QueryResult } from "../../agent/events.js";
import { parseFrames } from "../../agent/message-frame.js";
import type { IncomingMessage } from "../../agent/ports.js";
import type { OpenTranscript } from "../../agent/transcript.js";
import { withdrawUnanswered } from "../../agent/withdraw-unanswered.js";
import type { Lanes } from "./lanes.js";

/** Whether the server refused a request for what is in it, above all its length: it will refuse it whenever it is sent. */
export function isRefusedForGood({ status, error }: QueryResult): boolean {
  if (status !== "failed" || error === undefined) return false;
  return error.code === "too-long" || (error.code === "bad-request" && error.status === 400);
}

/** What a request that was refused for good has left. */
export interface Withdrawn {
  /** The messages that are no longer in the conversation. */
  readonly ids: readonly string[];
  /** The same, shorter, to be tried once more; empty where they cannot be made shorter. */
  readonly shorter: readonly IncomingMessage[];
}

/**
 * Takes what the refused request brought in out of the conversation and its record, so that the agent goes on without it. The
 * results of tool calls stay if `keepsResults`.
 */
export async function withdrawRefused(options: {
  readonly conversation: MessageParam[];
  readonly unanswered: readonly string[];
  readonly transcript: OpenTranscript;
  readonly lanes: Lanes;
  readonly keepsResults: boolean;
}): Promise<Withdrawn> {
  const { conversation, keepsResults } = options;
  const gone = withdrawUnanswered(conversation, keepsResults).map(textOf).flatMap(parseFrames);
  const ids = options.unanswered.filter(
    // What an interrupted answer covered in part stays. Prompts and notices have no frames.
    (id) => /^(prompt|notice)-/.test(id) || gone.some((frame) => frame.id === id),
  );
  await options.transcript.withdraw({ messageIds: ids, keepsResults });
  return { ids, shorter: options.lanes.again(ids) };
}
