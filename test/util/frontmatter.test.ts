import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { parseFrontmatter } from "../../src/util/frontmatter.js";

describe("parseFrontmatter", () => {
  it("reads fields, body and lines", () => {
    const read = parseFrontmatter("---\nname: a\n\ntools:\n  - Read\n---\n\nThe body.\n---\nmore\n");
    expect(read).toMatchObject({
      fields: { name: "a", tools: ["Read"] },
      body: "The body.\n---\nmore",
      diagnostics: [],
    });
    expect([read.lineOf("name"), read.lineOf("tools"), read.lineOf("none")]).toEqual([2, 4, 1]);
  });

  it("reads files of other systems", () => {
    expect(parseFrontmatter("\uFEFF---\r\nname: a\r\n---\r\nBody\r\n")).toMatchObject({
      fields: { name: "a" },
      body: "Body",
    });
  });

  it("takes a file without frontmatter for body alone", () => {
    expect(parseFrontmatter("Just text\n---\n")).toMatchObject({
      fields: {},
      body: "Just text\n---",
      diagnostics: [],
    });
    expect(parseFrontmatter("---\n---\nBody")).toMatchObject({ fields: {}, body: "Body", diagnostics: [] });
  });

  it("tells where it is broken", () => {
    expect(parseFrontmatter("---\nname: a\n").diagnostics).toEqual([
      { level: "error", line: 1, message: "the frontmatter has no closing ---" },
    ]);
    expect(parseFrontmatter("---\nname: a\nx: [1\n---\n").diagnostics).toMatchObject([
      { level: "error", line: 4 },
    ]);
    expect(parseFrontmatter("---\n- a\n---\n").diagnostics).toMatchObject([{ level: "error", line: 2 }]);
  });

  it("takes a plain value with a colon for text, with a warning", () => {
    const read = parseFrontmatter('---\nname: a\ndescription: Use when: "x" # y\n---\nBody');
    expect(read.fields).toEqual({ name: "a", description: 'Use when: "x" # y' });
    expect(read.diagnostics).toMatchObject([{ level: "warning", line: 3 }]);
  });

  it("merges maps that are there twice, and takes the last of other values", () => {
    const read = parseFrontmatter("---\nhooks:\n  a: 1\n  b: 1\nname: x\nhooks:\n  b: 2\nname: y\n---\n");
    expect(read.fields).toEqual({ hooks: { a: 1, b: 2 }, name: "y" });
    expect(read.diagnostics).toEqual([
      { level: "warning", line: 6, message: "the field hooks is here twice; both were merged" },
      { level: "warning", line: 8, message: "the field name is here twice; the last one counts" },
    ]);
  });

  it("refuses aliases that expand without bound", () => {
    const bomb = Array.from(
      { length: 9 },
      (_, n) => `a${n + 1}: &a${n + 1} [${"*a0,".replace("0", `${n}`).repeat(10)}]`,
    );
    const read = parseFrontmatter(`---\na0: &a0 [x]\n${bomb.join("\n")}\n---\n`);
    expect(read.diagnostics).toMatchObject([{ level: "error" }]);
  });

  it("does not let a field change what objects are", () => {
    const read = parseFrontmatter("---\n__proto__:\n  name: x\n---\n");
    expect(Object.getPrototypeOf(read.fields)).toBe(Object.prototype);
    expect(read.fields["name"]).toBeUndefined();
  });

  it("gives back what was written", () => {
    const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string()));
    const key = fc.stringMatching(/^[a-z]{1,6}$/);
    fc.assert(
      fc.property(fc.dictionary(key, value), fc.stringMatching(/^[a-z\n ]{0,20}$/), (fields, body) => {
        const text = `---\n${Object.keys(fields).length === 0 ? "" : stringify(fields)}---\n${body}`;
        expect(parseFrontmatter(text)).toMatchObject({ fields, body: body.trim(), diagnostics: [] });
      }),
    );
  });

  it("never throws", () => {
    const piece = fc.constantFrom(
      "---\n",
      "a: ",
      "b:\n",
      "  - x\n",
      "[",
      "]",
      "{",
      "}",
      "&x ",
      "*x",
      "!!js ",
      "\n",
      "'",
      '"',
      ": ",
      "? ",
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        parseFrontmatter(`---\n${pieces.join("")}\n---\n`);
      }),
    );
  });
});
