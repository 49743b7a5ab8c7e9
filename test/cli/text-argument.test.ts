import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { PassThrough, Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import type { Io } from "../../src/cli/io.js";
import { textArgument } from "../../src/cli/text-argument.js";
import { temporaryDirectory } from "../helpers/temp.js";

const mib = 1024 * 1024;

/** All of an `Io` that is looked at. */
const reading = (stdin: Readable): Io => ({ stdin }) as unknown as Io;

const fromFile = (file: string) => textArgument(reading(Readable.from([])), "send", undefined, file);

describe("a text from a file", () => {
  it("is all of it, up to 1 MiB, also through a link and where the file does not tell its size", async () => {
    const dir = temporaryDirectory();
    const file = path.join(dir, "text");
    fs.writeFileSync(file, "é".repeat(mib / 2));
    fs.symlinkSync(file, path.join(dir, "link"));
    expect(await fromFile(path.join(dir, "link"))).toHaveLength(mib / 2);
    fs.appendFileSync(file, "x");
    await expect(fromFile(file)).rejects.toMatchObject({ kind: "usage", code: "usage" });
    if (fs.existsSync("/proc/self/status")) expect(await fromFile("/proc/self/status")).toContain("Pid:");
  });

  it("is refused at once where reading might never end, or never begin", async () => {
    const dir = temporaryDirectory();
    const fifo = path.join(dir, "fifo");
    spawnSync("mkfifo", [fifo]);
    for (const [file, why] of [
      [fifo, "not a regular file"],
      ["/dev/zero", "not a regular file"],
      ["/dev/null", "not a regular file"],
      [dir, "a directory"],
    ] as const)
      await expect(fromFile(file)).rejects.toMatchObject({
        code: "unreadable-file",
        message: `send: the file ${file} cannot be read: ${why}`,
        remedy: expect.stringContaining("stdin"),
      });
    await expect(fromFile(path.join(dir, "none"))).rejects.toMatchObject({ code: "unreadable-file" });
  });
});

describe("a text from stdin", () => {
  it("that never ends is cut early and refused", async () => {
    let given = 0;
    const endless = new Readable({
      read() {
        given += 64 * 1024;
        this.push(Buffer.alloc(64 * 1024, "x"));
      },
    });
    await expect(textArgument(reading(endless), "send", "-", undefined)).rejects.toMatchObject({
      message: expect.stringContaining("longer than"),
    });
    expect(given).toBeLessThan(3 * mib);
    expect(endless.destroyed).toBe(true);
  });

  it("keeps characters whole that come in two pieces", async () => {
    const stdin = new PassThrough();
    const bytes = Buffer.from("aé");
    stdin.write(bytes.subarray(0, 2));
    setImmediate(() => stdin.end(bytes.subarray(2)));
    expect(await textArgument(reading(stdin), "send", "-", undefined)).toBe("aé");
  });
});
