import fs from "node:fs";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  openMailbox,
  openRouter,
  pruneMailbox,
  readMailbox,
  receiptOf,
  retention,
  waitForReply,
} from "../../mailbox/index.js";
import { encodeMessage } from "../../mailbox/message.js";
import { eventually, letter, plant, quickMailbox } from "./support.js";

const day = 86_400_000;

/** A mailbox with `count` files in done/: names of a few files, which is quicker to make than as many files. */
async function mailboxWithSeen(count: number): Promise<string> {
  const dir = await quickMailbox();
  const name = (n: number) => path.join(dir, "done", `seen-${String(n).padStart(8, "0")}.json`);
  for (let n = 0; n < count; n++) {
    const first = n - (n % 20_000);
    if (n === first) fs.writeFileSync(name(n), "");
    else fs.linkSync(name(first), name(n));
  }
  return dir;
}

/** Counts the turns of the event loop while `work` runs. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let running = true;
  const counting = (async () => {
    for (; running; turns++) await nextTurn();
  })();
  await work.finally(() => {
    running = false;
  });
  await counting;
  return turns;
}

/** The rooms that were listed since the call. */
function listings(): string[] {
  const listed: string[] = [];
  for (const method of ["readdirSync", "opendirSync", "readdir", "opendir"] as const) {
    const real = fs[method] as (...args: unknown[]) => unknown;
    const spy = vi.spyOn(fs, method).mockImplementation(((...args: unknown[]) => {
      listed.push(path.basename(String(args[0])));
      return real(...args);
    }) as never);
    onTestFinished(() => spy.mockRestore());
  }
  return listed;
}

describe("a hundred thousand seen messages", { timeout: 120_000 }, () => {
  test("are pruned while the event loop turns and mail comes, and the end of a reader ends it", async () => {
    const count = 100_000;
    const dir = await mailboxWithSeen(count);
    const box = openMailbox(dir);

    // A reader prunes at its start, and again only when it is done with that.
    const listed = listings();
    let readers = 0;
    const got: string[] = [];
    const reader = readMailbox(
      box,
      {
        onMessage({ id }) {
          got.push(id);
          box.acknowledge([id]);
        },
      },
      { sweepMs: 5 },
    );
    const messages = Array.from({ length: 20 }, () => letter());
    for (const message of messages) {
      await box.send(message);
      await eventually(() => got).toContain(message.id);
    }
    readers = listed.filter((room) => room === "done").length;
    reader.close();
    await reader.closed;
    expect(readers).toBe(1);

    const ending = new AbortController();
    const aborted = pruneMailbox(dir, Date.now() + 8 * day, ending.signal);
    ending.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    expect(box.counts().done).toBe(count + messages.length);

    const pruning = pruneMailbox(dir, Date.now() + 8 * day);
    const arriving = letter();
    await box.send(arriving);
    expect(receiptOf(dir, arriving.id)).toBe("stored");
    expect(await turnsDuring(pruning)).toBeGreaterThan(count / 1000);
    expect(box.counts()).toMatchObject({ new: 1, done: 0 });
  });

  test("are cut to the newest thousand in little memory", async () => {
    const dir = await quickMailbox();
    const count = retention.maxCount * 6;
    for (let n = 0; n < count; n++) plant(dir, "done", `seen-${String(n).padStart(8, "0")}.json`, "");
    const time = (name: string) => fs.statSync(path.join(dir, "done", name)).ctimeMs;
    const times = fs
      .readdirSync(path.join(dir, "done"))
      .map(time)
      .sort((a, b) => b - a);
    await pruneMailbox(dir, Date.now() + 2 * day);
    const kept = fs.readdirSync(path.join(dir, "done")).map(time);
    // Files of one tick of the clock are kept or removed together.
    const limit = times[retention.maxCount - 1] ?? 0;
    expect(kept.length).toBe(times.filter((each) => each >= limit).length);
    expect(Math.min(...kept)).toBe(limit);
  });

  test("are not listed by who sends, reads, claims, acknowledges or asks", async () => {
    const dir = await mailboxWithSeen(50);
    const box = openMailbox(dir);
    const router = openRouter(path.dirname(dir));
    const listed = listings();
    const [first, second] = [letter(), letter()];
    await box.send(first);
    await box.send(first);
    await router.deliver("reader", second);
    await router.broadcast(["reader"], letter({ to: "*" }));
    router.deliverSync("reader", letter());
    expect(receiptOf(dir, first.id)).toBe("stored");
    box.claim();
    expect(receiptOf(dir, first.id)).toBe("delivered");
    box.acknowledge([first.id]);
    expect(receiptOf(dir, first.id)).toBe("seen");
    expect(box.has("unknown-id")).toBe(false);
    box.release();
    box.claim();
    expect(new Set(listed)).not.toContain("done");
    expect(listed.length).toBeGreaterThan(5);
  });

  test("are read once by who waits for an answer, while the event loop turns", async () => {
    const dir = await quickMailbox();
    const asked = letter();
    const count = 2000;
    for (let n = 0; n < count; n++) {
      const message = letter({ text: String(n) });
      plant(dir, "done", `${message.id}.json`, encodeMessage(message));
    }
    const opened = vi.spyOn(fs, "openSync");
    onTestFinished(() => opened.mockRestore());
    const waiting = waitForReply(dir, asked.id, 60_000);
    const turns = turnsDuring(waiting);
    await eventually(() => opened.mock.calls.length).toBeGreaterThanOrEqual(count);
    const answer = letter({ inReplyTo: asked.id });
    await openMailbox(dir).send(answer);
    expect(await waiting).toEqual(answer);
    expect(await turns).toBeGreaterThan(count / 200);
    expect(opened.mock.calls.filter(([file]) => String(file).includes("/done/")).length).toBe(count);
  });
});
