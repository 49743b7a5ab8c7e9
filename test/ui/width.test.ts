import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cells, cut, displayWidth, padded, steady, wrap } from "../../src/ui/width.js";
import { printable } from "../../src/util/text.js";

const line = fc
  .oneof(
    fc.string({ unit: "grapheme", maxLength: 60 }),
    fc
      .array(fc.constantFrom("a", "word", " ", "  ", "漢", "😀", "e\u0301", "👩‍👧", "☁️", "🇩🇪", "ｱ", "한"), {
        maxLength: 60,
      })
      .map((parts) => parts.join("")),
  )
  .map((text) => printable(text).replace(/[\n\t]/g, " "));

describe("displayWidth", () => {
  it.each([
    ["abc", 3],
    ["", 0],
    ["漢字", 4],
    ["한글", 4],
    ["ﾊﾝ", 2],
    ["Ａ", 2],
    ["e\u0301", 1],
    ["\u1112\u1161\u11ab", 2],
    ["😀", 2],
    ["👍🏽", 2],
    ["👩‍👩‍👧‍👦", 2],
    ["🇩🇪", 2],
    ["☁️", 2],
    ["☁", 1],
    ["1️⃣", 2],
    ["b🏽", 3],
    ["\u00ad\u0600", 2],
    ["䷀", 2],
    ["a\u200bb", 2],
    ["\u001b[38;5;203mred\u001b[39m", 3],
  ])("of %j is %i", (text, width) => expect(displayWidth(text)).toBe(width));

  it("is the sum over grapheme clusters", () =>
    fc.assert(
      fc.property(line, (text) => {
        expect(displayWidth(text)).toBe(cells(text).reduce((sum, { width }) => sum + width, 0));
      }),
    ));
});

describe("cut", () => {
  it("keeps what fits and marks what does not", () => {
    expect(cut("hello", 5)).toBe("hello");
    expect(cut("hello", 4)).toBe("hel…");
    expect(cut("漢字漢字", 6)).toBe("漢字…");
    expect(cut("hello", 0)).toBe("");
  });

  it("ends colours that it cuts off", () =>
    expect(cut("\u001b[1mhello\u001b[22m", 4)).toBe("\u001b[1mhel\u001b[0m…"));

  it("never exceeds the width and is the beginning of the text", () =>
    fc.assert(
      fc.property(line, fc.nat(30), (text, width) => {
        const short = cut(text, width);
        expect(displayWidth(short)).toBeLessThanOrEqual(width);
        if (short !== text) expect(text.startsWith(short.replace(/…$/, ""))).toBe(true);
      }),
    ));
});

it("padded fills to exactly the width", () =>
  fc.assert(
    fc.property(line, fc.integer({ min: 1, max: 30 }), (text, width) => {
      expect(displayWidth(padded(text, width))).toBe(width);
    }),
  ));

it("steady leaves no selector that makes terminals disagree", () => expect(steady("☁️1️⃣x")).toBe("☁1⃣x"));

describe("wrap", () => {
  it.each([
    ["one two three", 7, ["one two", "three"]],
    ["onetwothree", 4, ["onet", "woth", "ree"]],
    ["  indented text", 10, ["  indented", "text"]],
    ["hi 漢字漢字", 6, ["hi 漢", "字漢字"]],
    ["a    b", 3, ["a", "b"]],
    ["", 5, [""]],
    ["whole", Number.POSITIVE_INFINITY, ["whole"]],
  ])("%j at %d", (text, width, rows) => expect(wrap(text, width)).toEqual(rows));

  it("never exceeds the width, keeps every character but blanks, and breaks only where needed", () =>
    fc.assert(
      fc.property(line, fc.integer({ min: 2, max: 30 }), (text, width) => {
        const rows = wrap(text, width);
        for (const row of rows) expect(displayWidth(row.trimEnd())).toBeLessThanOrEqual(width);
        expect(rows.join("").replace(/\s/gu, "")).toBe(text.replace(/\s/gu, ""));
        if (displayWidth(text) <= width) expect(rows).toHaveLength(1);
      }),
    ));

  it("is settled but for the last row: more text changes no other row", () =>
    fc.assert(
      fc.property(line, line, fc.integer({ min: 2, max: 30 }), (text, more, width) => {
        const whole = text + more;
        fc.pre(cells(whole).length === cells(text).length + cells(more).length);
        expect(wrap(whole, width).slice(0, wrap(text, width).length - 1)).toEqual(
          wrap(text, width).slice(0, -1),
        );
      }),
    ));
});
