import { describe, expect, it, onTestFinished, vi } from "vitest";
import { TroupeError } from "../../src/util/errors.js";
import { delay, waitUntil, withDeadline } from "../../src/util/wait.js";

describe("delay", () => {
  it("rejects with the signal's reason, also when aborted before", async () => {
    const reason = new Error("enough");
    const controller = new AbortController();
    const waiting = delay(60_000, controller.signal);
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(delay(60_000, controller.signal)).rejects.toBe(reason);
  });
});

describe("waitUntil", () => {
  it("gives the first value that is neither undefined nor false", async () => {
    const answers = [undefined, false, 0];
    await expect(
      waitUntil("an answer", () => answers.shift(), { timeoutMs: 5000, everyMs: 1 }),
    ).resolves.toBe(0);
  });

  it("names what it waited for at the deadline", async () => {
    const late = waitUntil("the pane", () => undefined, { timeoutMs: 10, everyMs: 1 });
    await expect(late).rejects.toMatchObject({
      code: "deadline",
      kind: "not-reached",
      message: "the pane: not within 10 ms",
    });
  });

  it("waits as long when the clock is set ahead", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    let asked = 0;
    const probe = () => {
      vi.setSystemTime(Date.now() + 3_600_000);
      return ++asked > 2;
    };
    await expect(waitUntil("x", probe, { timeoutMs: 60_000, everyMs: 1 })).resolves.toBe(true);
  });

  it("stops asking on abort, and passes on what the probe throws", async () => {
    const signal = AbortSignal.abort(new Error("stop"));
    let asked = 0;
    await expect(waitUntil("x", () => ++asked > 9, { timeoutMs: 1000, signal })).rejects.toThrow("stop");
    expect(asked).toBe(0);
    const broken = () => Promise.reject(new Error("broken"));
    await expect(waitUntil("x", broken, { timeoutMs: 1000 })).rejects.toThrow("broken");
  });
});

describe("withDeadline", () => {
  it("gives what the work gives", async () => {
    await expect(withDeadline("x", 1000, async () => 7)).resolves.toBe(7);
  });

  it("ends work that does not listen, and tells work that does", async () => {
    let heard: unknown;
    const deaf = withDeadline("the model", 10, (signal) => {
      signal.addEventListener("abort", () => {
        heard = signal.reason;
      });
      return new Promise<never>(() => {});
    });
    await expect(deaf).rejects.toBeInstanceOf(TroupeError);
    expect(heard).toMatchObject({ code: "deadline", message: "the model: not within 10 ms" });
  });

  it("ends with the outer signal's reason and leaves no listener behind", async () => {
    const controller = new AbortController();
    const waiting = withDeadline("x", 60_000, () => new Promise<never>(() => {}), controller.signal);
    controller.abort(new Error("outer"));
    await expect(waiting).rejects.toThrow("outer");
    let started = false;
    const late = withDeadline("x", 60_000, async () => (started = true), controller.signal);
    await expect(late).rejects.toThrow("outer");
    expect(started).toBe(false);
  });
});
