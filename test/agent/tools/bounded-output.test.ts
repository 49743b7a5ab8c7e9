import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createBoundedOutput } from "../../../src/agent/tools/bounded-output.js";
import { createWorkspace, type Workspace } from "./workspace.js";

let space: Workspace;
let serial = 0;
beforeEach(() => {
  space = createWorkspace();
});
afterEach(() => space.remove());

const freshFile = () => path.join(space.context.outputDir, `log-${++serial}`);

function collect(
  file: string,
  chunks: readonly Uint8Array[],
  shownBytes: number,
  fileBytes = 1_000_000,
): string {
  const output = createBoundedOutput(file, { shownBytes, fileBytes });
  try {
    for (const chunk of chunks) output.write(Buffer.from(chunk));
    return output.text();
  } finally {
    output.close();
  }
}

describe("createBoundedOutput", () => {
  it("shows what fits and makes no file for it", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme", maxLength: 5 })), (parts) => {
        fc.pre(!/[\u001b\u009b]/.test(parts.join("")));
        const file = freshFile();
        const chunks = parts.map((part) => Buffer.from(part));
        const bytes = Buffer.concat(chunks).length;
        expect(collect(file, chunks, bytes)).toBe(Buffer.concat(chunks).toString());
        expect(fs.existsSync(file)).toBe(false);
      }),
    );
  });

  it("shows both ends of what does not fit, and has all of it in the file, however it comes in", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom("a", "é", "€", "😀"), maxLength: 30 })),
        fc.integer({ min: 5, max: 60 }),
        (parts, shown) => {
          const whole = parts.join("");
          fc.pre(Buffer.byteLength(whole) > shown);
          const file = freshFile();
          const text = collect(
            file,
            parts.map((part) => Buffer.from(part)),
            shown,
          );
          const [, head = "?", left, tail = "?"] =
            /^(.*)\n\[… (\d+) bytes left out; the whole output is in .* …\]\n(.*)$/su.exec(text) ?? [];
          expect(whole.startsWith(head)).toBe(true);
          expect(whole.endsWith(tail)).toBe(true);
          expect(Number(left)).toBe(Buffer.byteLength(whole) - shown);
          expect(Buffer.byteLength(head) + Buffer.byteLength(tail)).toBeLessThanOrEqual(shown);
          expect(Buffer.byteLength(head) + Buffer.byteLength(tail)).toBeGreaterThan(shown - 7);
          expect(fs.readFileSync(file, "utf8")).toBe(whole);
        },
      ),
    );
  });

  it("bounds the file, too, and says so", () => {
    const file = freshFile();
    const text = collect(file, [Buffer.alloc(50, "a"), Buffer.alloc(50, "b"), Buffer.alloc(50, "c")], 10, 70);
    expect(fs.readFileSync(file, "utf8")).toBe("a".repeat(50) + "b".repeat(20));
    expect(text).toContain("it holds the first 70 bytes");
    expect(text.endsWith("cccccc")).toBe(true);
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  });

  it("overwrites no file", () => {
    const file = freshFile();
    fs.writeFileSync(file, "theirs");
    expect(() => collect(file, [Buffer.alloc(20, "a")], 10)).toThrow("EEXIST");
  });

  it("takes terminal escapes out", () => {
    const chunk = Buffer.from("\u001b[31mred\u001b[0m \u001b]0;title\u0007end");
    expect(collect(freshFile(), [chunk], 100)).toBe("red end");
  });
});
