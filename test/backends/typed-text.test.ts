import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRecogniser, typable, type View } from "../../backends/typed-text.js";

const view = (text: string, toCursor = text): View => ({ text, toCursor, cursor: "0" });
const empty = view("");

describe("text as it may be typed", () => {
  it("holds no control character but line feeds and tabs, and no line end behind it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(typable(`x${text}`)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|\n$/);
      }),
    );
  });

  it("is refused where it is too much, or nothing that shows", () => {
    expect(() => typable("x".repeat(4 * 1024 * 1024 + 1))).toThrow(
      expect.objectContaining({ code: "text-too-long" }),
    );
    for (const nothing of ["", " \n\t", "\u0000\u001b", "\u0301", "│ ── │"])
      expect(() => typable(nothing)).toThrow(expect.objectContaining({ code: "nothing-to-type" }));
  });
});

describe("a text on a terminal", () => {
  it("is recognised however it is wrapped and boxed", () => {
    const word = fc.stringMatching(/^[a-zA-Z0-9äß日本!/\\[\]]{4,30}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), fc.integer({ min: 5, max: 40 }), (words, width) => {
        const text = words.join(" ");
        const rows = text.match(new RegExp(`.{1,${width}}`, "gus")) ?? [];
        const box = ["╭──╮", ...rows.map((row) => `│ ${row.padEnd(width)} │`), "╰──╯"].join("\n");
        const { shows } = createRecogniser(text, empty);
        expect(shows(view(box))).toBe(true);
        expect(shows(view(box.replaceAll(/[\p{L}\p{N}!/\\[\]]/gu, "*")))).toBe(false);
      }),
    );
  });

  it.each([
    "[Pasted text #1 +60 lines]",
    "[Pasted Content 2000 chars]",
    "[Pasted ~400 lines]",
    "[Paste: 3 lines]",
  ])("is recognised by %s in its place", (mark) => {
    const { shows } = createRecogniser("long\ntext", empty);
    expect(shows(view(`> ${mark}`))).toBe(true);
    expect(createRecogniser("long\ntext", view(mark)).shows(view(mark))).toBe(false);
  });

  it("counts only if it was not there before, or stands at the cursor now", () => {
    const before = view("said: hello world\n> ");
    const { shows, differs } = createRecogniser("hello world", before);
    expect(shows(before)).toBe(false);
    expect(shows(view("said: hello world\n> hello world"))).toBe(true);
    expect(shows(view("> hello world\nfooter", "> hello world"))).toBe(true);
    expect(differs(view("hello world"), view("hello world hello world"))).toBe(true);
    expect(differs(view("hello world 12:00"), view("hello world 12:01"))).toBe(false);
  });
});
