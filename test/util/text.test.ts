import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { oneLine, printable } from "../../src/util/text.js";

/** Text with many characters that a terminal obeys. */
const hostile = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      "\u001b]0;title\u0007",
      "\u001b[2J",
      "\u009b31m",
      "\r",
      "\n",
      "\u202e",
      "\u2028",
      "\u007f",
      "\b",
    ),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  ),
});

describe("printable", () => {
  it("keeps text, line ends and tabs", () => {
    expect(printable("größer 👩‍💻\r\n\ttwo\rthree")).toBe("größer 👩‍💻\n\ttwo\nthree");
  });

  it.each([
    ["a screen being cleared", "a\u001b[2Jb", "a[2Jb"],
    ["a title being set", "\u001b]0;x\u0007y", "]0;xy"],
    ["an eight-bit control sequence", "\u009b31mred", "31mred"],
    ["text running backwards", "abc\u202edef\u2066x\u2069", "abcdefx"],
    ["a backspace that hides what stood before", "rm\b\bls", "rmls"],
  ])("defuses %s", (_, text, expected) => {
    expect(printable(text)).toBe(expected);
  });

  it("leaves no control character but LF and TAB, whatever comes", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        for (const character of printable(text)) {
          const code = character.codePointAt(0)!;
          expect(code >= 32 || code === 9 || code === 10).toBe(true);
          expect(code >= 0x7f && code <= 0x9f).toBe(false);
        }
        expect(printable(printable(text))).toBe(printable(text));
      }),
    );
  });
});

describe("oneLine", () => {
  it("folds white space and cuts by characters, not by halves of them", () => {
    expect(oneLine("  a\n\n b\tc ")).toBe("a b c");
    expect(oneLine("👍👍👍👍", 3)).toBe("👍👍…");
    expect(oneLine("abc", 3)).toBe("abc");
  });

  it("is one line within the width, whatever comes", () => {
    fc.assert(
      fc.property(hostile, fc.integer({ min: 1, max: 50 }), (text, width) => {
        const line = oneLine(text, width);
        expect(Array.from(line).length).toBeLessThanOrEqual(width);
        expect(line).not.toMatch(/[\n\r\t]/);
      }),
    );
  });
});
