import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeKey, fileNameOf, nameKey } from "../../src/util/name-key.js";

const names = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 });

describe("nameKey", () => {
  it.each([
    ["Reviewer", "reviewer"],
    ["ΟΔΟΣ", "οδοσ"],
    ["οδος", "οδοσ"],
    ["straße", "STRASSE"],
    ["STRAẞE", "straße"],
    ["Ångström", "ÅNGSTRÖM"],
    ["ﬁx", "FIX"],
    ["ǆ", "Ǆ"],
  ])("%s and %s are the same name", (a, b) => {
    expect(nameKey(a)).toBe(nameKey(b));
  });

  it.each([
    ["fixer", "fixes"],
    ["a-b", "a_b"],
    ["Жук", "Ж"],
  ])("%s and %s are two names", (a, b) => {
    expect(nameKey(a)).not.toBe(nameKey(b));
  });

  it("of every single letter is its own key", () => {
    const moved: string[] = [];
    for (let code = 0; code < 0x20000; code++) {
      // Ideographs and Hangul syllables have no case.
      if (code === 0x3400) code = 0xd800;
      const letter = String.fromCodePoint(code);
      if (!/\p{L}|\p{M}/u.test(letter)) continue;
      const key = nameKey(letter);
      if (nameKey(key) !== key) moved.push(`U+${code.toString(16)}`);
    }
    expect(moved).toEqual([]);
  });

  it("is a name with itself as key", () => {
    fc.assert(
      fc.property(names, (name) => {
        expect(nameKey(nameKey(name))).toBe(nameKey(name));
      }),
      { numRuns: 500 },
    );
  });

  it("does not depend on how the same text is composed, nor on case", () => {
    fc.assert(
      fc.property(names, (name) => {
        expect(nameKey(name.normalize("NFD"))).toBe(nameKey(name));
        expect(nameKey(name.toUpperCase())).toBe(nameKey(name));
      }),
      { numRuns: 500 },
    );
  });
});

describe("encodeKey", () => {
  it("writes other characters than a-z, 0-9, _ and - as their UTF-8 bytes", () => {
    expect(encodeKey("a-1_b")).toBe("a-1_b");
    expect(encodeKey("é.%/")).toBe("%c3%a9%2e%25%2f");
    expect(fileNameOf("Zoë")).toBe("zo%c3%ab");
  });

  it("can be undone, so that no two keys share a file name", () => {
    fc.assert(
      fc.property(names, (name) => {
        const key = nameKey(name);
        expect(decodeURIComponent(encodeKey(key))).toBe(key);
      }),
      { numRuns: 500 },
    );
  });

  it("gives a file name that means nothing to a shell, a path or a case-folding file system", () => {
    fc.assert(
      fc.property(names, (name) => {
        expect(fileNameOf(name)).toMatch(/^[a-z0-9_%-]+$/);
      }),
    );
  });
});
