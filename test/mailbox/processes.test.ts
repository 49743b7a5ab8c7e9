import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { openMailbox } from "../../mailbox/index.js";
import { bundleScript } from "../helpers/bundle.js";
import { eventually, letter, scratchMailbox } from "./support.js";

const running = new Set<ChildProcess>();

afterEach(async () => {
  for (const child of running) await kill(child);
});

/** Starts one of the scripts beside this file; `lines` grows with what it prints. */
function start(
  script: string,
  ...args: string[]
): { child: ChildProcess; lines: string[]; ended: Promise<unknown> } {
  const file = bundleScript(path.join(import.meta.dirname, "processes", `${script}.ts`));
  const child = spawn(process.execPath, [file, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  running.add(child);
  const lines: string[] = [];
  let rest = "";
  child.stdout.on("data", (data: Buffer) => {
    const parts = `${rest}${data}`.split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
  });
  return { child, lines, ended: once(child, "close").finally(() => running.delete(child)) };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
}

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

describe("processes that share a mailbox", { timeout: 120_000 }, () => {
  test("eight writers and two readers: each message once, each writer's in order", async () => {
    const dir = await scratchMailbox();
    const [writers, count] = [8, 150];
    const readers = [start("reader", dir), start("reader", dir)];
    const names = Array.from({ length: writers }, (_, n) => `w${n}`);
    const ends = await Promise.all(names.map((name) => start("writer", dir, name, String(count)).ended));
    expect(ends).toEqual(names.map(() => [0, null]));
    await eventually(() => openMailbox(dir).counts()).toMatchObject({ done: writers * count });
    for (const { child } of readers) child.kill("SIGTERM");
    expect(await Promise.all(readers.map(({ ended }) => ended))).toEqual([
      [0, null],
      [0, null],
    ]);
    const lines = readers.flatMap((reader) => reader.lines);
    expect(new Set(lines).size).toBe(lines.length);
    expect(lines).toHaveLength(writers * count);
    for (const reader of readers) expect([...bySender(reader.lines).values()].every(ascending)).toBe(true);
    expect(openMailbox(dir).counts()).toEqual({ tmp: 0, new: 0, cur: 0, done: writers * count, bad: 0 });
  });

  test("one reader sees each writer's messages in the order in which they were sent", async () => {
    const dir = await scratchMailbox();
    const reader = start("reader", dir);
    await Promise.all(["a", "b"].map((name) => start("writer", dir, name, "100").ended));
    await eventually(() => reader.lines).toHaveLength(200);
    const all = Array.from({ length: 100 }, (_, n) => n);
    expect(Object.fromEntries(bySender(reader.lines))).toEqual({ a: all, b: all });
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
