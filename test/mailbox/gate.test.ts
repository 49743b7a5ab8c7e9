import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createGate } from "../../mailbox/gate.js";

/** Work that ends when it is told to, in the order in which it began. */
function heldWork() {
  const ends: (() => void)[] = [];
  let begun = 0;
  return {
    begin: () => {
      begun++;
      return new Promise<void>((resolve) => ends.push(resolve));
    },
    begun: () => begun,
    end: () => ends.shift()?.(),
  };
}

test("a gate lets no more in than it is wide, also after a failure", async () => {
  const work = heldWork();
  const gate = createGate(2);
  const all = [
    gate(work.begin),
    gate(async () => Promise.reject(new Error("no"))),
    gate(work.begin),
    gate(work.begin),
  ];
  const failed = expect(all[1]).rejects.toThrow("no");
  await failed;
  await nextTurn();
  expect(work.begun()).toBe(2);
  for (let left = 3; left > 0; left--) {
    work.end();
    await nextTurn();
  }
  await Promise.all([all[0], all[2], all[3]]);
  expect(work.begun()).toBe(3);
});
