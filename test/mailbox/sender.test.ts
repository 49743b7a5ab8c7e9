import fs from "node:fs";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { createDiskGates, createSender, type DiskGates } from "../../mailbox/sender.js";
import { letter, names, scratchMailbox } from "./support.js";

/** Gates that count what goes through, with a directory's flush that ends when it is told to. */
function heldGates() {
  const gates = createDiskGates();
  const flushes: (() => void)[] = [];
  const directories = Object.assign(
    async <T>(work: () => Promise<T>): Promise<T> => {
      await new Promise<void>((resolve) => flushes.push(resolve));
      return work();
    },
    { isIdle: () => flushes.length === 0 },
  );
  return { gates: { ...gates, directories, quickMs: 0 }, flushes };
}

test("messages that come while one is on its way share one flush of the directory after it", async () => {
  const dir = await scratchMailbox();
  const { gates, flushes } = heldGates();
  const { send } = createSender(dir, {}, gates);
  const told: number[] = [];
  const tell = (n: number) => send(letter()).then(() => told.push(n));
  const first = tell(0);
  await vi.waitFor(() => expect(flushes).toHaveLength(1));
  const later = Promise.all([tell(1), tell(2), tell(3)]);
  await nextTurn();
  expect(names(dir, "new")).toHaveLength(1);
  expect(told).toEqual([]);
  flushes.shift()?.();
  await first;
  await vi.waitFor(() => expect(flushes).toHaveLength(1));
  expect(names(dir, "new")).toHaveLength(4);
  expect(told).toEqual([0]);
  flushes.shift()?.();
  await later;
  expect(flushes).toEqual([]);
  expect(names(dir, "tmp")).toEqual([]);
});

test("a flush that fails is told to those it was for, and no others", async () => {
  const dir = await scratchMailbox();
  const { gates } = heldGates();
  let fails = true;
  const directories: DiskGates["directories"] = Object.assign(
    async <T>(work: () => Promise<T>): Promise<T> => {
      if (fails) throw Object.assign(new Error("EIO"), { code: "EIO" });
      return work();
    },
    { isIdle: () => true },
  );
  const { send } = createSender(dir, {}, { ...gates, directories });
  const lost = await Promise.allSettled([send(letter()), send(letter())]);
  const maybe = { status: "rejected", reason: { code: "maybe-stored", kind: "not-reached" } };
  expect(lost).toMatchObject([maybe, maybe]);
  fails = false;
  await expect(send(letter())).resolves.toMatchObject({ duplicate: false });
  expect(names(dir, "new")).toHaveLength(3);
});

test("a lone message on a quick disk is told as stored once a flush that blocks has made it durable", async () => {
  const dir = await scratchMailbox();
  const sync = fs.fsyncSync;
  const flushed: string[] = [];
  const blocking = vi.spyOn(fs, "fsyncSync").mockImplementation((fd) => {
    sync(fd);
    if (fs.fstatSync(fd).isDirectory()) flushed.push(...names(dir, "new"));
  });
  onTestFinished(() => blocking.mockRestore());
  const { id } = await createSender(dir, {}, { ...createDiskGates(), quickMs: 60_000 }).send(letter());
  expect(flushed).toEqual([`${id}.json`]);
});

test("a message that cannot be placed keeps none of its batch from being stored", async () => {
  const dir = await scratchMailbox();
  const bad = letter();
  const link = (from: string, to: string) => {
    if (path.basename(to) === `${bad.id}.json`) throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
    fs.linkSync(from, to);
  };
  const { send } = createSender(dir, { link });
  const all = [letter(), bad, letter()];
  const outcomes = await Promise.allSettled(all.map((message) => send(message)));
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(names(dir, "new")).toHaveLength(2);
  expect(names(dir, "tmp")).toEqual([]);
});
