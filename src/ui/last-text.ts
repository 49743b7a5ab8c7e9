import type { AgentEvent } from "../agent/events.js";

/** Remembers the last text an agent wrote, so that what was on the screen is not shown again as mail or as a result. */
export interface LastText {
  add(event: AgentEvent): void;
  /** Whether `text` is the last text, blanks at its ends aside. */
  is(text: string): boolean;
}

export function createLastText(): LastText {
  let text = "";
  let ended = true;
  return {
    add(event) {
      if (event.type === "text") {
        text = ended ? event.text : text + event.text;
        ended = false;
      } else ended = true;
    },
    is: (other) => text.trim() !== "" && text.trim() === other.trim(),
  };
}
