import type { TeamEvent } from "../team/events.js";
import { nameKey } from "../util/name-key.js";
import type { Viewer } from "./viewer.js";

/**
 * Shows what a member says only when it goes on after that: its very last words are the result, which is printed by
 * itself. Its other events, and those of everybody else, are shown at once.
 */
export function holdLastText(name: string, viewer: Pick<Viewer, "show">): Viewer {
  const key = nameKey(name);
  let held: TeamEvent[] = [];
  return {
    show(event) {
      if (event.type !== "agent" || nameKey(event.name) !== key) return viewer.show(event);
      if (!mayBeLast.includes(event.event.type)) {
        // Told now, after what others did meanwhile: under its own time it would run backwards.
        for (const earlier of held) viewer.show({ ...earlier, at: event.at });
        held = [];
        viewer.show(event);
      } else held.push(event);
    },
    close: () => undefined,
  };
}

/** What the last words consist of, and what follows them. */
const mayBeLast: readonly string[] = ["text", "text-end", "turn-end", "result"];
