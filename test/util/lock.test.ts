import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { acquireLock, isHeld, readLock, tryLock, withLock } from "../../src/util/lock.js";
import { selfIdentity } from "../../src/util/process-identity.js";
import { temporaryDirectory } from "../helpers/temp.js";

const dead = { ...selfIdentity(), startTime: "1" };

it("waits for a lock as long as it was told, though the clock is set back meanwhile", async () => {
  const dir = temporaryDirectory();
  await tryLock(dir);
  let now = Date.now();
  const clock = vi.spyOn(Date, "now").mockImplementation(() => (now -= 1000));
  onTestFinished(() => clock.mockRestore());
  await expect(acquireLock(dir, 50)).rejects.toMatchObject({ code: "lock-busy" });
});

describe("tryLock", () => {
  it("gives the lock to one, with a token that grows", async () => {
    const dir = path.join(temporaryDirectory(), "lock");
    const first = (await tryLock(dir))!;
    expect(first.token).toBe(1);
    expect(await tryLock(dir)).toBeUndefined();
    first.release();
    expect((await tryLock(dir))?.token).toBe(2);
    expect(fs.statSync(dir).mode & 0o777).toBe(0o700);
    expect(fs.statSync(path.join(dir, "2.json")).mode & 0o777).toBe(0o600);
  });

  it("takes over from an owner that is gone, but not from one in another pid namespace", async () => {
    const dir = temporaryDirectory();
    fs.writeFileSync(path.join(dir, "7.json"), JSON.stringify({ v: 1, ...dead }));
    expect((await tryLock(dir))?.token).toBe(8);
    fs.writeFileSync(path.join(dir, "9.json"), JSON.stringify({ v: 1, ...dead, pidNamespace: "pid:[1]" }));
    expect(await tryLock(dir)).toBeUndefined();
    expect(isHeld(readLock(dir)!)).toBe(true);
  });

  it("takes over a generation that a power loss has left empty", async () => {
    const dir = temporaryDirectory();
    fs.writeFileSync(path.join(dir, "3.json"), "");
    expect((await tryLock(dir))?.token).toBe(4);
  });

  it("removes old generations and the drafts of dead owners, and keeps what lives", async () => {
    const dir = temporaryDirectory();
    for (const name of ["1.json", "1.json.released", "2.json", "3.json", ".draft-1-1"])
      fs.writeFileSync(path.join(dir, name), JSON.stringify({ v: 1, ...dead }));
    fs.writeFileSync(path.join(dir, ".draft-2-2"), JSON.stringify({ v: 1, ...selfIdentity() }));
    expect((await tryLock(dir))?.token).toBe(4);
    expect(fs.readdirSync(dir).sort()).toEqual([".draft-2-2", "1.json", "1.json.released", "4.json"]);
  });

  it("does not give it to who stalled between looking and linking while others came and went", async () => {
    const dir = temporaryDirectory();
    (await tryLock(dir))?.release();
    const link = fs.linkSync;
    const stalled = vi.spyOn(fs, "linkSync").mockImplementationOnce((from, to) => {
      // Meanwhile 2 was held, released and pruned, and 3 is held.
      fs.writeFileSync(path.join(dir, "3.json"), JSON.stringify({ v: 1, ...selfIdentity() }));
      link(from, to);
    });
    onTestFinished(() => stalled.mockRestore());
    expect(await tryLock(dir)).toBeUndefined();
    expect(readLock(dir)).toMatchObject({ token: 3, released: false });
    expect(fs.existsSync(path.join(dir, "2.json"))).toBe(false);
  });
});

describe("release", () => {
  it("is idempotent and leaves the next holder alone", async () => {
    const dir = temporaryDirectory();
    const first = (await tryLock(dir))!;
    first.release();
    const second = (await tryLock(dir))!;
    first.release();
    expect(await tryLock(dir)).toBeUndefined();
    second.release();
    expect(isHeld(readLock(dir)!)).toBe(false);
  });

  it("says nothing where the directory is gone, and nothing about a lock that was made anew in its place", async () => {
    const dir = path.join(temporaryDirectory(), "lock");
    const first = (await tryLock(dir))!;
    fs.rmSync(dir, { recursive: true });
    fs.mkdirSync(dir);
    const other = { ...selfIdentity(), pid: process.ppid, pidNamespace: "pid:[1]" };
    fs.writeFileSync(path.join(dir, "1.json"), JSON.stringify({ v: 1, ...other }));
    first.release();
    expect(isHeld(readLock(dir)!)).toBe(true);
    fs.rmSync(dir, { recursive: true });
    const next = (await tryLock(dir))!;
    fs.rmSync(dir, { recursive: true });
    expect(() => next.release()).not.toThrow();
  });
});

describe("acquireLock and withLock", () => {
  it("names the holder at the deadline", async () => {
    const dir = temporaryDirectory();
    const lock = await acquireLock(dir, 0);
    await expect(acquireLock(dir, 20)).rejects.toMatchObject({
      code: "lock-busy",
      message: `the lock ${dir} is held by process ${process.pid}`,
    });
    lock.release();
  });

  it("stops waiting on abort", async () => {
    const dir = temporaryDirectory();
    await acquireLock(dir, 0);
    const controller = new AbortController();
    const waiting = acquireLock(dir, 60_000, controller.signal);
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });

  it("releases when the work throws", async () => {
    const dir = temporaryDirectory();
    const failing = withLock(dir, 0, async () => Promise.reject(new Error("broken")));
    await expect(failing).rejects.toThrow("broken");
    expect(await withLock(dir, 0, async ({ token }) => token)).toBe(2);
  });
});
