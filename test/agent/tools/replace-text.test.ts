import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { replaceText } from "../../../src/agent/tools/replace-text.js";

const reason = (text: string, from: string, to = "NEW", all = false) => {
  const result = replaceText(text, from, to, all);
  return result.ok ? `replaced: ${result.text}` : result.reason;
};

describe("replaceText", () => {
  it("replaces a unique text literally", () => {
    expect(replaceText("a.b $& c", ".b $&", "$1$$", false)).toEqual({
      ok: true,
      text: "a$1$$ c",
      lines: [1],
    });
  });

  it("agrees with split and join on texts of one kind of line end", () => {
    const text = fc.stringMatching(/^[ab\n.$]{0,30}$/);
    fc.assert(
      fc.property(
        text,
        fc.stringMatching(/^[ab\n.]{1,3}$/),
        text,
        fc.constantFrom("\n", "\r\n"),
        (base, from, to, eol) => {
          fc.pre(from !== to && base.includes(from));
          const withEnds = (value: string) => value.replaceAll("\n", eol);
          const result = replaceText(withEnds(base), from, to, true);
          const fallback = base.includes("\n") ? eol : "\n";
          const expected = withEnds(base).split(withEnds(from)).join(to.replaceAll("\n", fallback));
          expect(result.ok && result.text).toBe(expected);
        },
      ),
    );
  });

  it("tells where the replacements begin in the new text", () => {
    const text = "a\nx\nb\nx x\n";
    expect(replaceText(text, "x", "1\n2", true)).toEqual({
      ok: true,
      text: "a\n1\n2\nb\n1\n2 1\n2\n",
      lines: [2, 5, 6],
    });
  });

  it("keeps each line's end in a file of mixed ones", () => {
    expect(replaceText("a\r\nb\nc\r\n", "a\nb\nc", "x\ny", false)).toMatchObject({ text: "x\r\ny\r\n" });
    expect(replaceText("a\nb\r\n", "b", "x\ny", false)).toMatchObject({ text: "a\nx\ny\r\n" });
  });

  it("asks for more context where the text is not unique, and names the lines", () => {
    expect(reason("x\ny\nx\n", "x")).toBe(
      "old_string occurs 2 times (in lines 1, 3). Add lines around it until it is unique, or set replace_all.",
    );
    expect(reason("x\n".repeat(20), "x")).toContain("(in lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …)");
  });

  it("says why a text was not found", () => {
    const text = "if (a) {\n\treturn b;\n}\n";
    expect(reason(text, "if (a) {\n    return b;\n}")).toContain("differs in white space only, at line 1");
    expect(reason(text, "     1\tif (a) {\n     2\t\treturn b;")).toContain("It holds the line numbers");
    expect(reason(text, "if (a) {\n\treturn c;")).toContain("Its first line is at line 1");
    expect(reason(text, "else")).toBe(
      "old_string was not found. Read the file again and copy the text exactly.",
    );
  });

  it("refuses what makes no change", () => {
    expect(reason(" a", "")).toContain("old_string is empty");
    expect(reason("a", "a", "a")).toContain("nothing to change");
    expect(reason("a\r\nb", "a\r\nb", "a\nb")).toContain("nothing to change");
  });
});
