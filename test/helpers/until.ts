import { waitUntil } from "../../src/util/wait.js";

/**
 * Waits until `probe` gives something else than null, undefined or false, at most 30 s, and returns that. `seen` tells in
 * the error what there was instead.
 */
export async function until<T>(
  probe: () => T | null | undefined | false | Promise<T | null | undefined | false>,
  what: string | RegExp,
  seen: () => string = () => "",
  timeoutMs = 30_000,
): Promise<T> {
  try {
    return await waitUntil(String(what), async () => (await probe()) ?? undefined, {
      timeoutMs,
      everyMs: 50,
    });
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${seen()}`);
  }
}
