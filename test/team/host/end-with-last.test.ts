import { describe, expect, it } from "vitest";
import { endWithLast } from "../../../src/team/host/end-with-last.js";
import type { Host } from "../../../src/team/host/host.js";

/** Only what is asked of a host here; the test says when things happen. */
function handheld() {
  const log: string[] = [];
  let close: () => void = () => undefined;
  let last: () => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  const host = {
    closed,
    lastEnded: (signal: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        last = resolve;
        fail = reject;
        signal.addEventListener("abort", () => {
          log.push("not waited for any more");
          reject(signal.reason);
        });
      }),
    down: async ({ reason }: { reason?: string } = {}) => {
      log.push(`down: ${reason}`);
      return [];
    },
  } as unknown as Host;
  return { host, log, close: () => close(), last: () => last(), fail: (error: Error) => fail(error) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("endWithLast", () => {
  it("ends the host with its last member, and waits for its end", async () => {
    const { host, log, last, close } = handheld();
    let over = false;
    const ended = endWithLast(host).then(() => {
      over = true;
    });
    await turn();
    expect(log).toEqual([]);
    last();
    await turn();
    expect(log).toEqual(["down: its last member has ended"]);
    expect(over).toBe(false);
    close();
    await ended;
  });

  it("lets go of a host that was ended otherwise", async () => {
    const { host, log, close } = handheld();
    const ended = endWithLast(host);
    close();
    await ended;
    expect(log).toEqual(["not waited for any more"]);
  });

  it("passes on what the host fails with", async () => {
    const { host, fail } = handheld();
    const ended = expect(endWithLast(host)).rejects.toThrow("broken");
    fail(new Error("broken"));
    await ended;
    const other = handheld();
    const failing = { ...other.host, down: async () => Promise.reject(new Error("cannot end")) };
    const downs = expect(endWithLast(failing as Host)).rejects.toThrow("cannot end");
    other.last();
    await downs;
  });
});
