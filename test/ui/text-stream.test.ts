import fc from "fast-check";
import { expect, it } from "vitest";
import { createTextStream } from "../../src/ui/text-stream.js";

const whole = () => Number.POSITIVE_INFINITY;

it("gives lines as they are completed", () => {
  const stream = createTextStream(whole);
  expect(stream.add("one\ntw")).toEqual(["one"]);
  expect(stream.open()).toBe("tw");
  expect(stream.add("o\n\nthree")).toEqual(["two", ""]);
  expect(stream.end()).toEqual(["three"]);
  expect(stream.end()).toEqual([]);
});

it("gives rows for good as soon as the text goes on below them", () => {
  const stream = createTextStream(() => 10);
  expect(stream.add("one two ")).toEqual([]);
  expect(stream.add("three f")).toEqual(["one two"]);
  expect(stream.open()).toBe("three f");
  expect(stream.add("our five")).toEqual(["three four"]);
});

it("drops blanks where a row was broken, also when they come later", () => {
  const stream = createTextStream(() => 5);
  expect([...stream.add("abcde f"), stream.open()]).toEqual(["abcde", "f"]);
  expect([...stream.add("ghi"), stream.open()]).toEqual(["fghi"]);
  expect([...stream.add("jkl    "), ...stream.add("   mn"), stream.open()]).toEqual(["fghij", "kl", "mn"]);
});

it("makes tabs blanks and takes CRLF for one line break, even in two pieces", () => {
  const stream = createTextStream(whole);
  expect([...stream.add("a\tb\r"), ...stream.add("\nc\n")]).toEqual(["a    b", "c"]);
});

it("gives the same lines however the text is cut, and no control character", () =>
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          fc.constantFrom("\n", "\r\n", "\r", "\u001b[2J", "\u009b", "\t", "\u202e"),
          fc.string({ unit: "grapheme" }),
        ),
      ),
      (pieces) => {
        const one = createTextStream(whole);
        const many = createTextStream(whole);
        const rows = [...one.add(pieces.join("")), ...one.end()];
        expect([...pieces.flatMap((piece) => many.add(piece)), ...many.end()]).toEqual(rows);
        for (const row of rows) expect(row).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
      },
    ),
  ));
