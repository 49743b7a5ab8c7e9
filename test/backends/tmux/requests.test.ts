import { expect, it } from "vitest";
import type { PaneRow } from "../../../backends/tmux/commands.js";
import { createRequests, type PaneRequest, type WaitingRequest } from "../../../backends/tmux/requests.js";
import { selfIdentity } from "../../../src/util/process-identity.js";

/** Requests whose turn comes when `go` is called; a turn that is given up fails. */
function heldRequests() {
  let go = (): void => undefined;
  const served: (readonly WaitingRequest[])[] = [];
  const requests = createRequests(
    async (work, signal) => {
      await new Promise<void>((resolve, reject) => {
        go = resolve;
        signal.addEventListener("abort", () => reject(signal.reason));
      });
      await work();
    },
    async (all) => {
      served.push(all);
      for (const { opened } of all) opened({ row: {} as PaneRow, server: selfIdentity() });
    },
  );
  return { requests, served, go: () => go() };
}

const request = (tag: string) => ({ label: { tag } }) as PaneRequest;
const tagsOf = (all: readonly (readonly WaitingRequest[])[]) =>
  all.map((some) => some.map(({ label }) => label.tag));

it("one turn serves all that wait for it, and the next one those that come later", async () => {
  const { requests, served, go } = heldRequests();
  const first = [requests.add(request("a")), requests.add(request("b"))];
  go();
  await Promise.all(first);
  const later = requests.add(request("c"));
  go();
  await later;
  expect(tagsOf(served)).toEqual([["a", "b"], ["c"]]);
});

it("one that is given up leaves the others where they are; the last one gives the turn up", async () => {
  const { requests, served, go } = heldRequests();
  const stops = [new AbortController(), new AbortController()];
  const [a, b] = stops.map(({ signal }, n) => requests.add(request(`${n}`), signal));
  const c = requests.add(request("c"));
  stops[0]?.abort(new Error("enough"));
  await expect(a).rejects.toThrow("enough");
  go();
  await Promise.all([b, c]);
  expect(tagsOf(served)).toEqual([["1", "c"]]);
  const stop = new AbortController();
  const lone = requests.add(request("d"), stop.signal);
  stop.abort(new Error("enough"));
  await expect(lone).rejects.toThrow("enough");
  const next = requests.add(request("e"));
  go();
  await next;
  expect(tagsOf(served)).toEqual([["1", "c"], ["e"]]);
  await expect(requests.add(request("f"), AbortSignal.abort(new Error("no")))).rejects.toThrow("no");
});

it("a turn that is not to be had is told to all that wait for it", async () => {
  const requests = createRequests(
    async () => Promise.reject(new Error("lock-busy")),
    async () => undefined,
  );
  const both = [requests.add(request("a")), requests.add(request("b"))];
  expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
});
