import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createGate, createGroupCommit } from "../../mailbox/gate.js";

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

describe("a group commit", () => {
  test("begins a flush for a first one, and one more for all who ask while it runs", async () => {
    const flush = heldWork();
    const commit = createGroupCommit(flush.begin);
    const first = commit();
    await nextTurn();
    const later = Promise.all([commit(), commit()]);
    await nextTurn();
    expect(flush.begun()).toBe(1);
    flush.end();
    await first;
    await nextTurn();
    expect(flush.begun()).toBe(2);
    flush.end();
    await later;
    const last = commit();
    await nextTurn();
    expect(flush.begun()).toBe(3);
    flush.end();
    await last;
  });

  test("that fails is told to those it was for, and no others", async () => {
    let fails = true;
    const commit = createGroupCommit(async () => {
      if (fails) throw new Error("full");
    });
    await expect(commit()).rejects.toThrow("full");
    fails = false;
    await expect(commit()).resolves.toBeUndefined();
  });
});

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
