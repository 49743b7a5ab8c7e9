import fs from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  openMailbox,
  pruneMailbox,
  receiptOf,
  retention,
  waitForReceipt,
  waitForReply,
} from "../../mailbox/index.js";
import { pruneIfDue } from "../../mailbox/prune.js";
import { letter, names, plant, scratchMailbox } from "./support.js";

describe("receipts", () => {
  test("follow a message", async () => {
    const dir = await scratchMailbox();
    const box = openMailbox(dir);
    const message = letter();
    expect(receiptOf(dir, message.id)).toBe("unknown");
    await box.send(message);
    expect(receiptOf(dir, message.id)).toBe("stored");
    box.claim();
    expect(receiptOf(dir, message.id)).toBe("delivered");
    box.acknowledge([message.id]);
    expect(receiptOf(dir, message.id)).toBe("seen");
    expect(receiptOf(dir, message.id.slice(0, 20))).toBe("unknown");
  });

  test("find a message that is put back behind the one who looks", async () => {
    const dir = await scratchMailbox();
    const box = openMailbox(dir);
    const message = letter();
    await box.send(message);
    box.claim();
    const list = fs.readdirSync;
    // Between the look into new/ and the one into cur/.
    const looking = vi.spyOn(fs, "readdirSync").mockImplementationOnce(((room: fs.PathLike) => {
      box.release();
      return list(room);
    }) as never);
    onTestFinished(() => looking.mockRestore());
    expect(receiptOf(dir, message.id)).toBe("stored");
  });

  test("are waited for, and given as they are at the deadline", async () => {
    const dir = await scratchMailbox();
    const box = openMailbox(dir);
    const message = letter();
    const delivered = waitForReceipt(dir, message.id, "delivered", 10_000);
    const seen = waitForReceipt(dir, message.id, "seen", 10_000);
    await box.send(message);
    expect(await waitForReceipt(dir, message.id, "seen", 0)).toBe("stored");
    expect(await waitForReceipt(dir, message.id, "stored", 10_000)).toBe("stored");
    box.claim();
    expect(await delivered).toBe("delivered");
    box.acknowledge([message.id]);
    expect(await seen).toBe("seen");
    expect(await waitForReceipt(dir, message.id, "stored", 10_000)).toBe("seen");
  });

  test("of a message that was put aside end the wait, and so does the signal", async () => {
    const dir = await scratchMailbox();
    plant(dir, "new", "00000000-bad.json", "{");
    openMailbox(dir).claim();
    expect(await waitForReceipt(dir, "00000000-bad", "seen", 3_600_000)).toBe("bad");
    const ending = new AbortController();
    const waiting = waitForReceipt(dir, letter().id, "seen", 10_000, ending.signal);
    ending.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });

  test("replied: finds the answer wherever the asker has it", async () => {
    const dir = await scratchMailbox();
    const box = openMailbox(dir);
    const [asked, other] = [letter(), letter()];
    await box.send(letter({ inReplyTo: other.id }));
    expect(await waitForReply(dir, asked.id, 0)).toBeUndefined();
    const waiting = waitForReply(dir, asked.id, 10_000);
    const answer = letter({ inReplyTo: asked.id });
    await box.send(answer);
    expect(await waiting).toEqual(answer);
    box.acknowledge(box.claim().messages.map(({ id }) => id));
    expect(await waitForReply(dir, asked.id, 0)).toEqual(answer);
  });
});

describe("pruning", () => {
  const day = 86_400_000;

  test("removes seen mail after seven days, and what a killed sender left after an hour", async () => {
    const dir = await scratchMailbox();
    const box = openMailbox(dir);
    await box.send(letter());
    box.acknowledge(box.claim().messages.map(({ id }) => id));
    await box.send(letter());
    plant(dir, "tmp", "draft", "");
    plant(dir, "new", ".lock-x", "");
    const now = Date.now();
    await pruneMailbox(dir, now + 3_500_000);
    expect(box.counts()).toMatchObject({ tmp: 1, new: 1, done: 1 });
    await pruneMailbox(dir, now + 3_700_000);
    expect(box.counts()).toMatchObject({ tmp: 0, new: 1, done: 1 });
    expect(fs.existsSync(path.join(dir, "new", ".lock-x"))).toBe(false);
    await pruneMailbox(dir, now + 6.9 * day);
    expect(box.counts()).toMatchObject({ done: 1 });
    await pruneMailbox(dir, now + 7.1 * day);
    expect(box.counts()).toMatchObject({ new: 1, done: 0 });
  });

  test("keeps the newest thousand, and everything for a day", async () => {
    const dir = await scratchMailbox();
    const ids = Array.from(
      { length: retention.maxCount + 5 },
      (_, n) => `seen-${String(n).padStart(6, "0")}`,
    );
    for (const id of ids) {
      plant(dir, "done", `${id}.json`, "");
      if (id === ids[4]) await later();
    }
    await pruneMailbox(dir, Date.now() + 0.9 * day);
    expect(names(dir, "done")).toHaveLength(ids.length);
    await pruneMailbox(dir, Date.now() + 1.1 * day);
    expect(names(dir, "done")).toEqual(ids.slice(5).map((id) => `${id}.json`));
  });

  test("is left for ten minutes where it was done, however often it is asked for", async () => {
    const dir = await scratchMailbox();
    const now = Date.now();
    const prunedAt = async (minutes: number) => {
      const lock = path.join(dir, "new", ".lock-old");
      plant(dir, "new", ".lock-old", "");
      await pruneIfDue(dir, now + minutes * 60_000);
      return !fs.existsSync(lock);
    };
    const pruned = [];
    for (const minutes of [9, 100, 109, 111, 65]) pruned.push(await prunedAt(minutes));
    expect(pruned).toEqual([false, true, false, true, true]);
  });

  /** Resolves once files get a later time than those before. */
  async function later(): Promise<void> {
    const dir = await scratchMailbox();
    const time = (name: string) => {
      plant(dir, "tmp", name, "");
      return fs.statSync(path.join(dir, "tmp", name)).ctimeMs;
    };
    const since = time("first");
    await expect.poll(() => time("next"), { interval: 2 }).toBeGreaterThan(since + 2);
  }
});
