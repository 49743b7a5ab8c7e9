import type { AgentEvent, QueryResult } from "../../agent/events.js";
import { oneLine } from "../../util/text.js";

/** What a turn has to say to whoever waits for it, in every ending. */
export function wordsOf(result: QueryResult): string {
  switch (result.status) {
    case "completed":
      return result.text === "" ? "(no output)" : result.text;
    case "max-turns":
      return `(stopped after ${result.turns} turns, its limit) ${result.text}`.trim();
    case "aborted":
      return `(interrupted) ${result.text}`.trim();
    case "refused":
      return `(the model refused to go on) ${result.text}`.trim();
    case "failed":
      return `(failed: ${result.error?.message ?? "unknown error"}) ${result.text}`.trim();
  }
}

/** What the model is told when its end was asked for; the asker's own words follow, framed. */
export const shutdownWords =
  "You are asked to shut down. Finish the step you are in, start nothing new, and end with your last words.";

export function activityOf(event: Extract<AgentEvent, { type: "tool-start" }>): string {
  return oneLine(event.tool === "SendMessage" ? event.summary : `${event.tool} ${event.summary}`, 80);
}
