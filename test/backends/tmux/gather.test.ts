import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { createGather } from "../../../backends/tmux/gather.js";

/** Gathers whose turn comes when `go` is called, and what is done in it first; a turn that is given up fails. */
function held(inTurn: () => void = () => undefined) {
  let go = (): void => undefined;
  const served: (readonly string[])[] = [];
  const add = createGather<string, string>(
    async (work, signal) => {
      await new Promise<void>((resolve, reject) => {
        go = resolve;
        signal.addEventListener("abort", () => reject(signal.reason));
      });
      await work();
    },
    async (all) => {
      served.push(all.map(({ item }) => item));
      inTurn();
      for (const { item, done } of all) done(item);
    },
  );
  return { add, served, go: () => go() };
}

it("one turn serves all that wait for it, and the next one those that come later", async () => {
  const { add, served, go } = held();
  const first = [add("a"), add("b")];
  go();
  expect(await Promise.all(first)).toEqual(["a", "b"]);
  const later = add("c");
  go();
  await later;
  expect(served).toEqual([["a", "b"], ["c"]]);
});

it("one that is given up leaves the others where they are; the last one gives the turn up", async () => {
  const stops = [new AbortController(), new AbortController()];
  const { add, served, go } = held(() => stops[1]?.abort(new Error("too late")));
  const [a, b] = stops.map(({ signal }, n) => add(`${n}`, signal));
  const c = add("c");
  stops[0]?.abort(new Error("enough"));
  await expect(a).rejects.toThrow("enough");
  go();
  expect(await Promise.all([b, c])).toEqual(["1", "c"]);
  const stop = new AbortController();
  const lone = add("d", stop.signal);
  stop.abort(new Error("enough"));
  await expect(lone).rejects.toThrow("enough");
  const next = add("e");
  go();
  await next;
  expect(served).toEqual([["1", "c"], ["e"]]);
  await expect(add("f", AbortSignal.abort(new Error("no")))).rejects.toThrow("no");
});

it("a turn that is not to be had is told to all that wait for it", async () => {
  const add = createGather<string, void>(
    async () => Promise.reject(new Error("lock-busy")),
    async () => undefined,
  );
  const both = await Promise.allSettled([add("a"), add("b")]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
});

it("what fails for some is told to those that have no answer yet", async () => {
  const add = createGather<string, string>(
    async (work) => {
      await nextTurn();
      await work();
    },
    async ([first]) => {
      first?.done("there");
      throw new Error("no more");
    },
  );
  const [a, b] = await Promise.allSettled([add("a"), add("b")]);
  expect([a, b]).toMatchObject([{ status: "fulfilled" }, { status: "rejected" }]);
});
