import { describe, expect, onTestFinished, test } from "vitest";
import { openMailbox } from "../../mailbox/index.js";
import { kill, type Started, start } from "./children.js";
import { eventually, letter, quickMailbox, scratchMailbox } from "./support.js";

/** The numbers that came from each writer, in the order in which they came. */
function bySender(lines: readonly string[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const line of lines) {
    const [from = "", text] = line.split(" ");
    found.set(from, [...(found.get(from) ?? []), Number(text)]);
  }
  return found;
}

const ascending = (numbers: readonly number[]) =>
  numbers.every((n, at) => at === 0 || n > (numbers[at - 1] ?? 0));

const writers = 8;

/** Runs eight writers to their ends; gives their names. */
async function writeAll(dir: string, count: number): Promise<string[]> {
  const names = Array.from({ length: writers }, (_, n) => `w${n}`);
  const ends = await Promise.all(names.map((name) => start("writer", dir, name, String(count)).ended));
  expect(ends).toEqual(names.map(() => [0, null]));
  return names;
}

async function allSeen(dir: string, count: number): Promise<void> {
  await expect.poll(() => openMailbox(dir).counts().done, { timeout: 90_000, interval: 50 }).toBe(count);
}

describe("processes that share a mailbox", { timeout: 120_000 }, () => {
  test("eight writers and two readers: each message once, each writer's in order", async () => {
    const dir = await quickMailbox();
    const count = 2000;
    const readers = [start("reader", dir), start("reader", dir)];
    await writeAll(dir, count);
    await allSeen(dir, writers * count);
    for (const { child } of readers) child.kill("SIGTERM");
    expect(await Promise.all(readers.map(({ ended }) => ended))).toEqual([
      [0, null],
      [0, null],
    ]);
    const lines = readers.flatMap((reader) => reader.lines);
    expect(new Set(lines).size).toBe(lines.length);
    expect(lines.length).toBe(writers * count);
    for (const reader of readers) expect([...bySender(reader.lines).values()].every(ascending)).toBe(true);
    expect(openMailbox(dir).counts()).toEqual({ tmp: 0, new: 0, cur: 0, done: writers * count, bad: 0 });
  });

  test("one reader sees each writer's messages in the order in which they were sent", async () => {
    const dir = await quickMailbox();
    const count = 2000;
    const reader = start("reader", dir);
    const names = await writeAll(dir, count);
    await allSeen(dir, writers * count);
    await eventually(() => reader.lines.length).toBe(writers * count);
    const all = Array.from({ length: count }, (_, n) => n);
    expect(Object.fromEntries(bySender(reader.lines))).toEqual(
      Object.fromEntries(names.map((name) => [name, all])),
    );
  });

  test("twenty readers that come and go, every other one killed, lose nothing", async () => {
    const dir = await quickMailbox();
    const count = 2000;
    const writing = writeAll(dir, count);
    const all: Started[] = [];
    let killed = 0;
    // Looked at rarely, since to count so many takes as long as to read some.
    let isOver = false;
    const counting = setInterval(() => {
      isOver = openMailbox(dir).counts().done === writers * count;
    }, 500);
    onTestFinished(() => clearInterval(counting));
    const oneLife = async (life: number) => {
      const reader = start("reader", dir);
      all.push(reader);
      // Somebody else may have taken everything: then it has waited long enough, too.
      await expect
        .poll(() => reader.lines.length > 20 || isOver, { timeout: 60_000, interval: 5 })
        .toBe(true);
      if (life % 2 === 0) {
        killed++;
        await kill(reader.child);
      } else {
        reader.child.kill("SIGTERM");
        const end = await reader.ended;
        // One that has not begun to read may not listen to signals yet.
        if (reader.lines.length > 0) expect(end).toEqual([0, null]);
      }
    };
    // Four at a time, each followed by another one.
    await Promise.all(
      [0, 1, 2, 3].map(async (lane) => {
        for (let n = 0; n < 5; n++) await oneLife(lane + n);
      }),
    );
    await writing;
    const last = start("reader", dir);
    await allSeen(dir, writers * count);
    last.child.kill("SIGTERM");
    await last.ended;
    const lines = [...all, last].flatMap((reader) => reader.lines);
    expect(new Set(lines).size).toBe(writers * count);
    // Only the one message that was at hand when a reader was killed may have come twice.
    expect(lines.length).toBeLessThanOrEqual(writers * count + killed);
    expect(openMailbox(dir).counts()).toEqual({ tmp: 0, new: 0, cur: 0, done: writers * count, bad: 0 });
  });

  test("what a killed reader held goes to the next one, who keeps what a live one holds", async () => {
    const dir = await scratchMailbox();
    const box = openMailbox(dir);
    const killed = start("reader", dir, "hold");
    await box.send(letter({ text: "1" }));
    await box.send(letter({ text: "2" }));
    await eventually(() => killed.lines).toHaveLength(2);
    expect(box.claim().messages).toEqual([]);
    await kill(killed.child);
    expect(box.claim().messages.map(({ text }) => text)).toEqual(["1", "2"]);
  });

  test("readers that are killed over and over lose nothing", async () => {
    const dir = await scratchMailbox();
    const count = 300;
    const writer = start("writer", dir, "w", String(count));
    const lines: string[] = [];
    for (let life = 0; life < 5; life++) {
      const reader = start("reader", dir);
      await expect.poll(() => reader.lines.length, { timeout: 60_000, interval: 1 }).toBeGreaterThan(5);
      await kill(reader.child);
      lines.push(...reader.lines);
    }
    await writer.ended;
    const last = start("reader", dir);
    await eventually(() => openMailbox(dir).counts()).toMatchObject({ done: count });
    last.child.kill("SIGTERM");
    await last.ended;
    lines.push(...last.lines);
    expect(new Set(lines).size).toBe(count);
    // Only the one message that was at hand when a reader was killed may have come twice.
    expect(lines.length).toBeLessThanOrEqual(count + 5);
    expect(openMailbox(dir).counts()).toMatchObject({ new: 0, cur: 0, done: count });
  });
});
