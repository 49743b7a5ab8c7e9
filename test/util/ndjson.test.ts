import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maxLineBytes, readLines } from "../../src/util/ndjson.js";

async function linesOf(chunks: Iterable<Buffer | string>): Promise<string[]> {
  const lines: string[] = [];
  const stream = Readable.from(chunks, { objectMode: false });
  readLines(stream, (line) => lines.push(line));
  await finished(stream);
  return lines;
}

describe("readLines", () => {
  it("gives the same lines however the bytes are cut", async () => {
    const text = fc.array(fc.string({ unit: "grapheme" }).map((line) => line.replace(/\n/g, "")));
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 7 }), async (lines, size) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
        const chunks = [];
        for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
        expect(await linesOf(chunks)).toEqual(lines.map((line) => line));
      }),
    );
  });

  it("does not deliver a torn last line", async () => {
    expect(await linesOf(["one\ntw"])).toEqual(["one"]);
    expect(await linesOf(["one\n", "two\n"])).toEqual(["one", "two"]);
  });

  it("ends a stream whose line has no end, and holds no more than the limit", async () => {
    const chunk = Buffer.alloc(1024 * 1024, "x");
    let sent = 0;
    function* endless() {
      for (; sent < 64; sent++) yield chunk;
    }
    await expect(linesOf(endless())).rejects.toThrow(`more than ${maxLineBytes} bytes`);
    expect(sent).toBeLessThan(32);
  });
});
