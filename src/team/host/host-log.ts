import fs from "node:fs";
import { oneLine } from "../../util/text.js";
import type { TeamEvent } from "../events.js";

/**
 * Adds an event to a host's log: one line for what says something about the team as a whole; what agents do is in events and
 * transcripts.
 */
export function logEvent(file: string, event: TeamEvent): void {
  if (event.type === "agent" || event.type === "output" || event.type === "mail") return;
  const { at, type, ...rest } = event;
  fs.appendFileSync(file, `${at} ${type} ${oneLine(JSON.stringify(rest), 1_000)}\n`, { mode: 0o600 });
}
