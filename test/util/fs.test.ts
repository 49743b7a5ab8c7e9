import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import {
  ensureDir,
  ensureDirSync,
  fsyncDir,
  listIfExists,
  readTextIfExists,
  writeFileAtomic,
  writeJsonAtomic,
} from "../../src/util/fs.js";
import { waitUntil } from "../../src/util/wait.js";
import { bundleScript } from "../helpers/bundle.js";
import { temporaryDirectory } from "../helpers/temp.js";

describe("writeFileAtomic", () => {
  it("writes for its owner only and leaves nothing beside", async () => {
    const file = path.join(temporaryDirectory(), "a.json");
    await writeJsonAtomic(file, { a: 1 });
    await writeFileAtomic(file, "two");
    expect(readTextIfExists(file)).toBe("two");
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    expect(fs.readdirSync(path.dirname(file))).toEqual(["a.json"]);
  });

  it("cleans up and tells where the file cannot be replaced", async () => {
    const dir = temporaryDirectory();
    fs.mkdirSync(path.join(dir, "taken"));
    await expect(writeFileAtomic(path.join(dir, "taken"), "x")).rejects.toMatchObject({ code: "EISDIR" });
    expect(fs.readdirSync(dir)).toEqual(["taken"]);
  });

  it("replaces a link, not what it points to", async () => {
    const dir = temporaryDirectory();
    fs.writeFileSync(path.join(dir, "target"), "old");
    fs.symlinkSync("target", path.join(dir, "link"));
    await writeFileAtomic(path.join(dir, "link"), "new");
    expect(readTextIfExists(path.join(dir, "target"))).toBe("old");
    expect(fs.lstatSync(path.join(dir, "link")).isFile()).toBe(true);
  });

  it("is whole for every reader while its writers are killed", { timeout: 60_000 }, async () => {
    const file = path.join(temporaryDirectory(), "state.json");
    const writer = bundleScript(path.join(import.meta.dirname, "processes/fs-writer.ts"));
    const whole = () => {
      const text = readTextIfExists(file);
      if (text === undefined) return undefined;
      const { n, text: body } = JSON.parse(text);
      return body === String(n % 10).repeat(20_000);
    };
    for (let round = 0; round < 5; round++) {
      fs.rmSync(file, { force: true });
      const child = spawn(process.execPath, [writer, file], { stdio: "inherit" });
      const gone = once(child, "exit");
      try {
        await waitUntil("a first version", () => whole() === true, { timeoutMs: 20_000 });
        for (let look = 0; look < 20 + round * 7; look++) expect(whole()).toBe(true);
      } finally {
        child.kill("SIGKILL");
        await gone;
      }
      expect(whole()).toBe(true);
    }
  });
});

describe("reading what may not be there", () => {
  it("tells a missing file from one that cannot be read", async () => {
    const dir = temporaryDirectory();
    expect(readTextIfExists(path.join(dir, "none"))).toBeUndefined();
    expect(() => readTextIfExists(dir)).toThrow("EISDIR");
    expect(listIfExists(path.join(dir, "none"))).toEqual([]);
    fs.writeFileSync(path.join(dir, "file"), "");
    expect(() => listIfExists(path.join(dir, "file"))).toThrow("ENOTDIR");
  });
});

describe("directories", () => {
  it("are made for their owner only, and an existing one stays as it is", async () => {
    const dir = temporaryDirectory();
    fs.chmodSync(dir, 0o755);
    await ensureDir(path.join(dir, "a/b"));
    await ensureDir(dir);
    await fsyncDir(dir);
    expect(fs.statSync(path.join(dir, "a/b")).mode & 0o777).toBe(0o700);
    expect(fs.statSync(dir).mode & 0o777).toBe(0o755);
  });
});

describe("ensureDirSync", () => {
  it("makes parents, leaves what is there, and is refused where a file stands in the way", () => {
    const dir = path.join(temporaryDirectory(), "a", "b", "c");
    ensureDirSync(dir);
    ensureDirSync(dir);
    expect(fs.statSync(path.dirname(dir)).mode & 0o777).toBe(0o700);
    fs.writeFileSync(path.join(dir, "file"), "");
    expect(() => ensureDirSync(path.join(dir, "file"))).toThrow("EEXIST");
    expect(() => ensureDirSync(path.join(dir, "file", "below"))).toThrow("ENOTDIR");
  });

  it("fails, rather than never returning, where nothing can be made", () => {
    expect(() => ensureDirSync("/proc/troupe/teams")).toThrow("ENOENT");
  });
});
