import fs from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createMailbox, type MailboxWatcher, openMailbox, watchMailbox } from "../../mailbox/index.js";
import { currentIdentity, runAs } from "../../src/util/context.js";
import type { TroupeError } from "../../src/util/errors.js";
import { eventually, letter, scratchMailbox } from "./support.js";

const watchers: MailboxWatcher[] = [];

afterEach(async () => {
  for (const watcher of watchers.splice(0)) await watcher.close();
});

function watch(...args: Parameters<typeof watchMailbox>): MailboxWatcher {
  const watcher = watchMailbox(...args);
  watchers.push(watcher);
  return watcher;
}

/** A watch that has begun, with a counter of its bells. */
async function ringing(
  dir: string,
  options: Parameters<typeof watchMailbox>[2] = {},
): Promise<{ bells: number }> {
  const count = { bells: 0 };
  watch(
    dir,
    () => {
      count.bells++;
    },
    options,
  );
  await eventually(() => count.bells).toBeGreaterThan(0);
  return count;
}

describe("watching", () => {
  test("rings once watching has begun, and again for a message", async () => {
    const dir = await scratchMailbox();
    const count = await ringing(dir);
    const before = count.bells;
    await openMailbox(dir).send(letter());
    await eventually(() => count.bells).toBeGreaterThan(before);
  });

  test("looks less often where its watch works and nothing happens, and still finds what it was not told", async () => {
    const dir = await scratchMailbox();
    const directory = path.join(dir, "new");
    fs.utimesSync(directory, 1, 1);
    const stat = vi.spyOn(fs, "statSync");
    onTestFinished(() => stat.mockRestore());
    let sweeps = 0;
    const count = await ringing(dir, {
      sweepMs: 5,
      onSweep: () => void sweeps++,
      onTrouble: () => undefined,
    });
    await eventually(() => sweeps).toBeGreaterThan(60);
    const looks = stat.mock.calls.filter(([place]) => place === directory).length;
    expect(looks).toBeGreaterThan(10);
    expect(looks).toBeLessThan(sweeps / 2);
    const before = count.bells;
    fs.renameSync(directory, path.join(dir, "old"));
    fs.mkdirSync(directory);
    await eventually(() => count.bells).toBeGreaterThan(before);
  });

  test("rings no more after it was closed", async () => {
    const dir = await scratchMailbox();
    const count = await ringing(dir, { sweepMs: 10 });
    await watchers[0]?.close();
    const before = count.bells;
    const other = await ringing(dir);
    const others = other.bells;
    await openMailbox(dir).send(letter());
    await eventually(() => other.bells).toBeGreaterThan(others);
    expect(count.bells).toBe(before);
  });

  test("runs every callback as who asked for it, though watches of one directory are shared", async () => {
    const dir = await scratchMailbox();
    const seen = new Map<string, Set<string | undefined>>();
    for (const agentId of ["a@t", "b@t"]) {
      const identities = new Set<string | undefined>();
      seen.set(agentId, identities);
      const note = () => {
        identities.add(currentIdentity()?.agentId);
      };
      runAs({ agentId, incarnation: "1" }, () => watch(dir, note, { sweepMs: 20, onSweep: note }));
    }
    await eventually(() => [...seen.values()].every(({ size }) => size > 0)).toBe(true);
    await openMailbox(dir).send(letter());
    const sweeps = await ringing(dir, { sweepMs: 30 });
    await eventually(() => sweeps.bells).toBeGreaterThan(2);
    expect([...seen]).toEqual([
      ["a@t", new Set(["a@t"])],
      ["b@t", new Set(["b@t"])],
    ]);
  });
});

describe("the sweep", () => {
  test("rings while the directory's time is news, and not for ever", async () => {
    const dir = await scratchMailbox();
    const count = await ringing(dir, { sweepMs: 20 });
    await eventually(() => count.bells).toBeGreaterThan(5);
    let quiet = 0;
    let last = count.bells;
    await expect
      .poll(
        () => {
          quiet = count.bells === last ? quiet + 1 : 0;
          last = count.bells;
          return quiet;
        },
        { timeout: 20_000, interval: 40 },
      )
      .toBeGreaterThan(10);
    fs.utimesSync(path.join(dir, "new"), new Date(), new Date(0));
    await eventually(() => count.bells).toBeGreaterThan(last);
  });

  test("tells once of a directory that was replaced, and watches the new one", async () => {
    const dir = await scratchMailbox();
    const troubles: TroupeError[] = [];
    const count = await ringing(dir, { sweepMs: 50, onTrouble: (error) => troubles.push(error) });
    for (let round = 0; round < 2; round++) {
      fs.rmSync(dir, { recursive: true });
      await eventually(() => troubles.length).toBe(1);
      await createMailbox(dir);
      const before = count.bells;
      await openMailbox(dir).send(letter());
      await eventually(() => count.bells).toBeGreaterThan(before);
    }
    expect(troubles.map(({ code }) => code)).toEqual(["mailbox-replaced"]);
  });

  test("finds mail where no watch can be had, and tells why", async () => {
    const dir = await scratchMailbox();
    const troubles: TroupeError[] = [];
    const real = fs.watch;
    let failures = 0;
    const refuse = () => {
      failures++;
      throw Object.assign(new Error("ENOSPC: no inotify watches left"), { code: "ENOSPC" });
    };
    Object.assign(fs, { watch: refuse });
    try {
      const { syncBuiltinESMExports } = await import("node:module");
      syncBuiltinESMExports();
      const count = await ringing(dir, { sweepMs: 30, onTrouble: (error) => troubles.push(error) });
      await eventually(() => failures).toBeGreaterThan(2);
      const before = count.bells;
      await openMailbox(dir).send(letter());
      await eventually(() => count.bells).toBeGreaterThan(before);
      expect(troubles.map(({ code }) => code)).toEqual(["watch-failed"]);
    } finally {
      Object.assign(fs, { watch: real });
      const { syncBuiltinESMExports } = await import("node:module");
      syncBuiltinESMExports();
    }
  });
});
