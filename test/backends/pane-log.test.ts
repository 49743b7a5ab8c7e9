import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { logCommand } from "../../backends/pane-log.js";
import { waitUntil } from "../../src/util/wait.js";
import { temporaryDirectory } from "../helpers/temp.js";

/** Runs a log command as tmux does, with a pipe in front of it. */
function startLog(file: string, maxBytes?: number) {
  const child = spawn("/bin/sh", ["-c", logCommand(file, maxBytes)], {
    cwd: "/",
    stdio: ["pipe", "ignore", "ignore"],
  });
  const ended = once(child, "exit");
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stdin.on("error", () => undefined);
  return { input: child.stdin, ended };
}

async function logAll(file: string, text: string | Buffer, maxBytes?: number) {
  const { input, ended } = startLog(file, maxBytes);
  input.end(text);
  await ended;
}

/** Lines of 16 bytes that tell where they stand. */
const numbered = (count: number) =>
  Buffer.from(Array.from({ length: count }, (_, index) => `${String(index).padStart(15)}\n`).join(""));

describe("the log of a pane", () => {
  it("has the last of twenty megabytes without a gap, in two files of at most the bound, for its owner alone", async () => {
    const file = path.join(temporaryDirectory(), "output.log");
    const bound = 6_000_000;
    const all = numbered(1_250_000);
    await logAll(file, all, bound);
    const [before, now] = [`${file}.1`, file].map((name) => fs.readFileSync(name));
    for (const part of [before!, now!]) expect(part.length).toBeLessThanOrEqual(bound);
    expect(before!.length).toBeGreaterThan(bound / 2);
    const kept = Buffer.concat([before!, now!]);
    expect(kept.equals(all.subarray(all.length - kept.length))).toBe(true);
    expect([file, `${file}.1`].map((name) => fs.statSync(name).mode & 0o777)).toEqual([0o600, 0o600]);
    expect(fs.readdirSync(path.dirname(file)).sort()).toEqual(["output.log", "output.log.1"]);
  });

  it("is complete as long as it is short, and goes on where an earlier one ended", async () => {
    const file = path.join(temporaryDirectory(), "output.log");
    const bytes = Buffer.from(Array.from({ length: 512 }, (_, index) => index % 256));
    await logAll(file, bytes);
    await logAll(file, "more");
    expect(fs.readFileSync(file)).toEqual(Buffer.concat([bytes, Buffer.from("more")]));
    await logAll(file, "");
    expect(fs.readdirSync(path.dirname(file))).toEqual(["output.log"]);
  });

  it("is there as soon as it is written, however little, and however often", async () => {
    const file = path.join(temporaryDirectory(), "output.log");
    const { input, ended } = startLog(file, 65_536);
    let seen = "";
    for (let count = 0; count < 5; count++) {
      input.write(`${count}`);
      seen += count;
      await waitUntil(seen, () => fs.existsSync(file) && fs.readFileSync(file, "utf8") === seen, {
        timeoutMs: 20_000,
      });
    }
    input.end();
    await ended;
    expect(fs.readFileSync(file, "utf8")).toBe(seen);
  });

  it("ends where it cannot be written, instead of trying for ever", async () => {
    const file = path.join(temporaryDirectory(), "output.log");
    fs.mkdirSync(file);
    const { input, ended } = startLog(file);
    await ended;
    input.destroy();
    expect(fs.readdirSync(path.dirname(file))).toEqual(["output.log"]);
  });

  it("ends where a named pipe that nobody reads has taken its place", async () => {
    const file = path.join(temporaryDirectory(), "output.log");
    execFileSync("mkfifo", [file]);
    const { input, ended } = startLog(file);
    input.write("x");
    await ended;
    input.destroy();
    expect(fs.statSync(file).isFIFO()).toBe(true);
  });

  it("ends where one takes its place while it is written", async () => {
    const file = path.join(temporaryDirectory(), "output.log");
    const { input, ended } = startLog(file, 16 * 16_384);
    input.write("x");
    await waitUntil("the log", () => fs.existsSync(file) && fs.statSync(file).size > 0, {
      timeoutMs: 20_000,
    });
    execFileSync("mkfifo", [`${file}.pipe`]);
    fs.renameSync(`${file}.pipe`, file);
    input.write("x".repeat(100_000));
    await ended;
    input.destroy();
    expect(fs.statSync(file).isFIFO()).toBe(true);
  });

  it("may lie at any path", async () => {
    const dir = temporaryDirectory();
    const word = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
    const hostile = fc.constantFrom(
      "$(touch x)",
      "a'b",
      "`id`",
      "%H%%",
      "#{pid}",
      "a\nb",
      "-n",
      "a;b\\",
      '"',
    );
    const name = fc.tuple(fc.oneof(word, hostile), fc.oneof(word, hostile)).map((words) => words.join(""));
    await fc.assert(
      fc.asyncProperty(name, async (text) => {
        fc.pre(!/[\0/]|^\.{1,2}$/.test(text) && Buffer.from(text).toString() === text);
        const place = fs.mkdtempSync(path.join(dir, "p"));
        const file = path.join(place, text);
        await logAll(file, "x".repeat(40_000), 32_768);
        expect(fs.readdirSync(place).sort()).toEqual([text, `${text}.1`].sort());
      }),
      { numRuns: 8 },
    );
  });
});
