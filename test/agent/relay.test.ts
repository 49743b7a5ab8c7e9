import { expect, test } from "vitest";
import { relay } from "../../src/agent/relay.js";

const signal = new AbortController().signal;

async function drain<T, R>(generator: AsyncGenerator<T, R>): Promise<{ events: T[]; value: R }> {
  const events: T[] = [];
  for (;;) {
    const { done, value } = await generator.next();
    if (done) return { events, value };
    events.push(value);
  }
}

test("events come in order, then the value", async () => {
  const work = async (emit: (event: number) => void) => {
    emit(1);
    emit(2);
    await new Promise(setImmediate);
    emit(3);
    return "done";
  };
  expect(await drain(relay(work, signal))).toEqual({ events: [1, 2, 3], value: "done" });
});

test("an error is thrown after the events before it", async () => {
  const seen: number[] = [];
  const read = async () => {
    for await (const event of relay<number, void>(async (emit) => {
      emit(1);
      throw new Error("broken");
    }, signal))
      seen.push(event);
  };
  await expect(read()).rejects.toThrow("broken");
  expect(seen).toEqual([1]);
});

test("a consumer that stops early aborts the work and waits for its end", async () => {
  let ended = false;
  for await (const event of relay<number, void>(async (emit, own) => {
    emit(1);
    await new Promise((resolve) => own.addEventListener("abort", resolve));
    await new Promise(setImmediate);
    ended = true;
  }, signal))
    if (event === 1) break;
  expect(ended).toBe(true);
});
