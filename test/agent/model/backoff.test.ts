import { expect, test } from "vitest";
import { createBackoff } from "../../../src/agent/model/backoff.js";

const signal = new AbortController().signal;

test("waits grow, are jittered and bounded; the server's own is kept exactly", () => {
  const least = createBackoff({ random: () => 0 });
  expect([1, 2, 3, 4, 5, 6, 7].map((attempt) => least.refused(attempt, undefined))).toEqual([
    500, 1000, 2000, 4000, 8000, 15_000, 15_000,
  ]);
  const most = createBackoff({ random: () => 0.999_999 });
  expect(most.refused(1, undefined)).toBe(1000);
  expect(most.refused(20, undefined)).toBe(30_000);
  expect(most.refused(1, 123_456)).toBe(123_456);
});

test("one that is told to wait makes the others wait, and a shorter wait does not let them go earlier", async () => {
  const backoff = createBackoff();
  await backoff.ready(signal);
  const started = performance.now();
  backoff.refused(1, 120);
  backoff.refused(1, 10);
  await Promise.all([backoff.ready(signal), backoff.ready(signal)]);
  expect(performance.now() - started).toBeGreaterThanOrEqual(119);
});

test("a wait that grows meanwhile is waited out whole", async () => {
  const backoff = createBackoff();
  const started = performance.now();
  backoff.refused(1, 40);
  const ready = backoff.ready(signal);
  backoff.refused(1, 120);
  await ready;
  expect(performance.now() - started).toBeGreaterThanOrEqual(119);
});

test("an abort ends the wait with its reason", async () => {
  const backoff = createBackoff();
  backoff.refused(1, 60_000);
  const abort = new AbortController();
  const reason = new Error("stop");
  const ready = backoff.ready(abort.signal);
  abort.abort(reason);
  await expect(ready).rejects.toBe(reason);
});

test("a server that names an absurd wait holds the others back for ten minutes at most", async () => {
  let now = 0;
  const backoff = createBackoff({ now: () => now });
  expect(backoff.refused(1, 86_400_000)).toBe(86_400_000);
  now = 600_000;
  await backoff.ready(signal);
});
