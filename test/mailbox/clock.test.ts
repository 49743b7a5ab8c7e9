import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { openMailbox, pruneMailbox } from "../../mailbox/index.js";
import { start } from "./children.js";
import { letter, names, plant, scratchMailbox } from "./support.js";

describe("a clock that is put back", { timeout: 60_000 }, () => {
  test("changes neither the order of a sender's mail nor receipts, holds no lock, and lets nothing be pruned", async () => {
    const dir = await scratchMailbox();
    const { id } = letter();
    plant(dir, "new", `.lock-${id}`, "");
    const child = start("clock", dir, id);
    expect(await child.ended).toEqual([0, null]);
    expect(JSON.parse(child.lines.join(""))).toEqual({
      order: Array.from({ length: 100 }, (_, n) => n),
      receipts: ["unknown", "delivered", "seen"],
      locked: { id, duplicate: false },
      counts: { tmp: 0, new: 1, cur: 1, done: 99, bad: 0 },
    });
    expect(names(dir, "new")).toEqual([`${id}.json`]);
  });

  test("leaves files of the future, whose age counts from then on", async () => {
    const dir = await scratchMailbox();
    const [hour, day] = [3_600_000, 86_400_000];
    for (const room of ["done", "tmp"]) plant(dir, room, "00000000-future.json", "{}");
    const outside = path.join(dir, "outside");
    fs.writeFileSync(outside, "");
    fs.symlinkSync(outside, path.join(dir, "done", "00000000-link.json"));
    const time = (file: string) => fs.lstatSync(path.join(dir, file)).ctimeMs;
    const before = ["done/00000000-future.json", "tmp/00000000-future.json", "outside"].map(time);
    await pruneMailbox(dir, Date.now() - 0.5 * hour);
    expect(["done/00000000-future.json", "tmp/00000000-future.json", "outside"].map(time)).toEqual(before);
    await pruneMailbox(dir, Date.now() - 400 * day);
    expect(time("done/00000000-future.json")).toBeGreaterThan(before[0]!);
    expect(time("tmp/00000000-future.json")).toBeGreaterThan(before[1]!);
    expect(time("outside")).toBe(before[2]);
    expect(openMailbox(dir).counts()).toMatchObject({ tmp: 1, done: 2 });
  });
});
