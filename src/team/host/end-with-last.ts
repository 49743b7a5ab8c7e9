import type { Host } from "./host.js";

/** Waits until the host has ended, and ends it when its last member has: nothing is left to keep then. */
export async function endWithLast(host: Host): Promise<void> {
  const over = new AbortController();
  const last = host.lastEnded(over.signal).then(
    () => host.down({ reason: "its last member has ended" }),
    (error: unknown) => {
      if (!over.signal.aborted) throw error;
    },
  );
  await Promise.race([host.closed, last.then(() => host.closed)]);
  over.abort();
}
