import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSlots } from "../../src/util/slots.js";

describe("slots", () => {
  it("run so many at a time, and the others in the order of the calls", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 12 }),
        async (count, turns) => {
          const slots = createSlots(count);
          const begun: number[] = [];
          let running = 0;
          let most = 0;
          await Promise.all(
            turns.map((turn, index) =>
              slots(async () => {
                begun.push(index);
                most = Math.max(most, ++running);
                for (let left = turn; left > 0; left--) await Promise.resolve();
                running--;
              }),
            ),
          );
          expect(begun).toEqual(turns.map((_, index) => index));
          expect(most).toBeLessThanOrEqual(count);
        },
      ),
    );
  });

  it("give what the work gives, and go on after one that fails", async () => {
    const slots = createSlots(1);
    const failed = slots(() => Promise.reject(new Error("no")));
    const next = slots(() => Promise.resolve(7));
    await expect(failed).rejects.toThrow("no");
    expect(await next).toBe(7);
  });

  it("do not begin what is given up while it waits, and lose no slot to it", async () => {
    const slots = createSlots(1);
    const { held, letGo } = hold();
    const first = slots(() => held);
    const stop = new AbortController();
    const begun: string[] = [];
    const begin = async () => void begun.push("given up");
    const waiting = slots(begin, stop.signal);
    const last = slots(() => Promise.resolve("last"));
    stop.abort(new Error("given up"));
    await expect(waiting).rejects.toThrow("given up");
    await expect(slots(begin, stop.signal)).rejects.toThrow("given up");
    letGo();
    await first;
    expect(await last).toBe("last");
    expect(begun).toEqual([]);
  });

  it("lose no slot to one that is given up in the moment in which its turn comes", async () => {
    const slots = createSlots(1);
    const { held, letGo } = hold();
    const first = slots(() => held);
    const stop = new AbortController();
    const second = slots(() => Promise.resolve("begun"), stop.signal);
    const last = slots(() => Promise.resolve("last"));
    letGo();
    stop.abort(new Error("given up"));
    await first;
    await expect(second).rejects.toThrow("given up");
    expect(await last).toBe("last");
  });
});

function hold(): { held: Promise<void>; letGo: () => void } {
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  return { held, letGo };
}
