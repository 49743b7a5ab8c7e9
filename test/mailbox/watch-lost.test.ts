import fs from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
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
  ])("%s: mail arrives, it is told once, and the new one is watched", async (_, replace) => {
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
    await openMailbox(dir).send(letter({ text: "before" }));
    await eventually(() => got).toEqual(["before"]);
    for (let round = 0; round < 2; round++) {
      await replace(dir, isTold);
      await isTold();
      if (linux) await eventually(() => isWatched(path.join(dir, "new"))).toBe(true);
      await openMailbox(dir).send(letter({ text: `after ${round}` }));
      await eventually(() => got).toContain(`after ${round}`);
      fs.rmSync(path.join(dir, "new.old"), { recursive: true, force: true });
      fs.rmSync(`${dir}.old`, { recursive: true, force: true });
    }
    expect(new Set(told).size).toBe(told.length);
  });
});
