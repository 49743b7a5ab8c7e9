import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createScreen } from "./screen.js";

/** What a screen of ten by four shows, its last empty lines left out, and the cursor. */
function shows(...chunks: readonly string[]) {
  const screen = createScreen(10, 4);
  for (const chunk of chunks) screen.write(chunk);
  const lines = screen.lines();
  while (lines.at(-1) === "") lines.pop();
  const { x, y } = screen.cursor();
  return { lines, cursor: [x, y], above: screen.above() };
}

describe("a screen", () => {
  it.each<[string, string, readonly string[], readonly [number, number]]>([
    ["lines", "one\r\ntwo", ["one", "two"], [3, 1]],
    ["a line feed without a return", "a\nb", ["a", " b"], [2, 1]],
    ["what wraps", "0123456789ab", ["0123456789", "ab"], [2, 1]],
    ["tabs and backspaces", "a\tb\b\bc", ["a      cb"], [8, 0]],
    ["wide characters, marks and joined ones", "日e\u0301👍x", ["日e\u0301👍x"], [6, 0]],
  ])("shows %s", (_, text, lines, cursor) => {
    expect(shows(text)).toMatchObject({ lines, cursor });
  });

  it("moves its cursor, and erases, deletes and inserts", () => {
    expect(shows("\u001b[2;3Hx").cursor).toEqual([3, 1]);
    expect(shows("abc\u001b[D\u001b[D").cursor).toEqual([1, 0]);
    expect(shows("abc\u001b[99;99H").cursor).toEqual([9, 3]);
    expect(shows("abcdef\u001b[3D\u001b[K").lines).toEqual(["abc"]);
    expect(shows("abcdef\u001b[3D\u001b[1K").lines).toEqual(["    ef"]);
    expect(shows("abcdef\r\u001b[2P").lines).toEqual(["cdef"]);
    expect(shows("abcdef\r\u001b[2@").lines).toEqual(["  abcdef"]);
    expect(shows("a\r\nb\r\nc\u001b[2J").lines).toEqual([]);
    expect(shows("a\u001b7bc\u001b8d").lines).toEqual(["adc"]);
  });

  it("keeps what scrolls away above it", () => {
    const { lines, above } = shows("1\r\n2\r\n3\r\n4\r\n5\r\n6");
    expect(lines).toEqual(["1", "2", "3", "4", "5", "6"]);
    expect(above).toBe(2);
  });

  it("shows no sequence, whole or cut, and takes a title from the right ones", () => {
    expect(shows("a\u001b[1;31mb\u001b[?2004hc\u001b]8;;x\u0007d\u001b(Be\u001b=").lines).toEqual(["abcde"]);
    expect(shows("a\u001b", "[1", "mb").lines).toEqual(["ab"]);
    const screen = createScreen(10, 4);
    screen.write("\u001b]0;title\u0007\u001b]2;other\u001b\\\u001b]8;;x\u0007");
    expect(screen.title()).toBe("other");
  });

  it("answers where its cursor is, and survives whatever it is given and sized to", () => {
    expect(createScreen(10, 4).write("ab\u001b[6n")).toBe("\u001b[1;3R");
    const text = fc.array(
      fc.constantFrom("\u001b[", "\u001b]", "3", ";", "H", "J", "K", "P", "x", "日", "\n", "\r", "\t"),
    );
    fc.assert(
      fc.property(
        text,
        fc.integer({ min: 2, max: 20 }),
        fc.integer({ min: 2, max: 20 }),
        (parts, columns, rows) => {
          const screen = createScreen(10, 4);
          screen.write(parts.join(""));
          screen.resize(columns, rows);
          screen.write(parts.join(""));
          const { x, y } = screen.cursor();
          expect(y).toBeLessThan(rows);
          expect(x).toBeLessThanOrEqual(columns);
          expect(screen.lines().length - screen.above()).toBe(rows);
        },
      ),
    );
  });
});
