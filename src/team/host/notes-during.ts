import type { EventHub } from "../event-hub.js";

/** What `work` gives, and what was told about the team as a whole, its places and its files, while it went on. */
export async function notesDuring<T>(
  hub: EventHub,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly notes: readonly string[] }> {
  const notes: string[] = [];
  const stop = hub.listen((event) => {
    if (event.type === "notice" && event.name === undefined) notes.push(event.text);
  });
  try {
    return { result: await work(), notes };
  } finally {
    stop();
  }
}
