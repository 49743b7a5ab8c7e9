import fs from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createMailbox, openMailbox, readMailbox } from "../../mailbox/index.js";
import { start, startUnder } from "./children.js";
import { canLowerLimits, isWatched, without } from "./inotify.js";
import { eventually, letter, scratchMailbox } from "./support.js";

const linux = process.platform === "linux";

describe("a reader whose watch is refused", { timeout: 120_000 }, () => {
  test.runIf(canLowerLimits()).each([
    ["max_inotify_watches", "ENOSPC"],
    ["max_inotify_instances", "EMFILE"],
  ] as const)(
    "for want of %s gets its mail by the sweep, tells once, and watches when it can",
    async (limit, code) => {
      const dir = await scratchMailbox();
      const box = openMailbox(dir);
      const reader = startUnder(without(limit), "watched", dir, "50");
      await eventually(() => reader.lines).toContain("blind");
      for (const text of ["1", "2", "3"]) {
        await box.send(letter({ text }));
        await eventually(() => reader.lines).toContain(`mail ${text}`);
      }
      expect(reader.lines).not.toContain("watching");
      reader.child.kill("SIGUSR2");
      await eventually(() => reader.lines).toContain("watching");
      await box.send(letter({ text: "4" }));
      await eventually(() => reader.lines).toContain("mail 4");
      reader.child.kill("SIGTERM");
      expect(await reader.ended).toEqual([0, null]);
      expect(reader.lines.filter((line) => line.startsWith("trouble"))).toEqual([
        expect.stringMatching(`^trouble watch-failed watching .*/new failed: ${code}`),
      ]);
    },
  );
});

/** Also where the limits of one process cannot be lowered. */
describe("a reader whose system call for a watch fails", () => {
  test.each(["ENOSPC", "EMFILE"])(
    "with %s gets its mail by the sweep, tells once, and watches when it can",
    async (code) => {
      const watching = vi.spyOn(fs, "watch").mockImplementation(() => {
        throw Object.assign(new Error(`${code}: no watch`), { code });
      });
      onTestFinished(() => watching.mockRestore());
      const dir = await scratchMailbox();
      const box = openMailbox(dir);
      const got: unknown[] = [];
      const told: string[] = [];
      const reader = readMailbox(
        box,
        {
          onMessage: ({ text }) => void got.push(text),
          onTrouble: ({ code, message }) => void told.push(`${code} ${message}`),
        },
        { sweepMs: 50 },
      );
      onTestFinished(async () => {
        reader.close();
        await reader.closed;
      });
      const deliver = async (text: string) => {
        await box.send(letter({ text }));
        await eventually(() => got).toContain(text);
      };
      for (const text of ["1", "2", "3"]) await deliver(text);
      expect(told).toEqual([
        expect.stringMatching(new RegExp(`^watch-failed watching .*/new failed: ${code}`)),
      ]);
      watching.mockRestore();
      const watched = vi.spyOn(fs, "watch");
      onTestFinished(() => watched.mockRestore());
      await eventually(() => watched.mock.results[0]?.type).toBe("return");
      await deliver("4");
      expect(told).toHaveLength(1);
    },
  );
});

describe("a reader whose queue of events overflowed", { timeout: 120_000 }, () => {
  test.runIf(linux)("while it stood still finds all mail when it goes on", async () => {
    const dir = await scratchMailbox();
    const box = openMailbox(dir);
    const reader = start("watched", dir, "1000");
    await eventually(() => reader.lines).toContain("watching");
    await box.send(letter({ text: "before" }));
    await eventually(() => reader.lines).toContain("mail before");
    reader.child.kill("SIGSTOP");
    const state = () => fs.readFileSync(`/proc/${reader.child.pid}/stat`, "utf8").split(") ")[1]?.[0];
    await eventually(state).toBe("T");
    // Two events each; what comes behind them tells nobody.
    const queue = Number(fs.readFileSync("/proc/sys/fs/inotify/max_queued_events", "utf8"));
    const junk = path.join(dir, "new", ".junk");
    for (let n = 0; n < queue / 2 + 10; n++) {
      fs.closeSync(fs.openSync(junk, "w"));
      fs.unlinkSync(junk);
    }
    const texts = Array.from({ length: 50 }, (_, n) => String(n));
    await Promise.all(texts.map((text) => box.send(letter({ text }))));
    reader.child.kill("SIGCONT");
    await eventually(() => reader.lines.filter((line) => line.startsWith("mail ")).slice(1)).toEqual(
      texts.map((text) => `mail ${text}`),
    );
    await box.send(letter({ text: "after" }));
    await eventually(() => reader.lines).toContain("mail after");
    expect(reader.lines.filter((line) => line.startsWith("trouble"))).toEqual([]);
  });
});

describe("a reader whose directory is replaced", { timeout: 120_000 }, () => {
  test.each([
    [
      "new/ moved away and made anew",
      async (dir: string) => {
        fs.renameSync(path.join(dir, "new"), path.join(dir, "new.old"));
        fs.mkdirSync(path.join(dir, "new"));
      },
    ],
    [
      "new/ gone for a while",
      async (dir: string, isTold: () => Promise<void>) => {
        fs.rmSync(path.join(dir, "new"), { recursive: true });
        await isTold();
        fs.mkdirSync(path.join(dir, "new"));
      },
    ],
    [
      "the mailbox replaced by another one",
      async (dir: string) => {
        await createMailbox(`${dir}.next`);
        await openMailbox(`${dir}.next`).send(letter({ text: "0" }));
        fs.renameSync(dir, `${dir}.old`);
        fs.renameSync(`${dir}.next`, dir);
      },
    ],
  ])("%s: mail arrives, it is told once each time, and the new one is watched", async (_, replace) => {
    const dir = await scratchMailbox();
    const got: unknown[] = [];
    const told: string[] = [];
    const reader = readMailbox(
      openMailbox(dir),
      { onMessage: ({ text }) => void got.push(text), onTrouble: ({ code }) => void told.push(code) },
      { sweepMs: 60 },
    );
    onTestFinished(async () => {
      reader.close();
      await reader.closed;
    });
    const isTold = async () => void (await eventually(() => told).toContain("mailbox-replaced"));
    /** Two sweeps have come: one of them found all well. */
    const wellAgain = async () => {
      const looked = vi.spyOn(fs, "statSync");
      await eventually(
        () => looked.mock.calls.filter(([file]) => file === path.join(dir, "new")).length,
      ).toBeGreaterThan(2);
      looked.mockRestore();
    };
    await openMailbox(dir).send(letter({ text: "before" }));
    await eventually(() => got).toEqual(["before"]);
    for (let round = 0; round < 2; round++) {
      told.length = 0;
      await replace(dir, isTold);
      await isTold();
      if (linux) await eventually(() => isWatched(path.join(dir, "new"))).toBe(true);
      await openMailbox(dir).send(letter({ text: `after ${round}` }));
      await eventually(() => got).toContain(`after ${round}`);
      expect(new Set(told).size).toBe(told.length);
      await wellAgain();
      fs.rmSync(path.join(dir, "new.old"), { recursive: true, force: true });
      fs.rmSync(`${dir}.old`, { recursive: true, force: true });
    }
  });
});
