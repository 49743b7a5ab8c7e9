import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkName } from "../../src/team/names.js";
import { TroupeError } from "../../src/util/errors.js";
import { encodeKey, fileNameOf, maxEncodedKeyBytes, nameKey } from "../../src/util/name-key.js";

describe("checkName", () => {
  it.each([
    ["reviewer", "reviewer"],
    ["Code-Review_2", "code-review_2"],
    ["ΟΔΟΣ", "οδοσ"],
    ["Straße", "strasse"],
    ["レビュー担当", "レビュー担当"],
    ["проверка", "проверка"],
    ["e\u0301te\u0301", "été"],
    ["123", "123"],
  ])("accepts %s", (name, key) => {
    expect(checkName(name)).toBe(key);
  });

  it.each([
    ["", "empty"],
    ["*", "everybody"],
    ["-x", "starts with -"],
    ["a b", '" "'],
    ["a/b", '"/"'],
    ["../up", '"."'],
    ["a%b", '"%"'],
    ["a@b", '"@"'],
    ["a\u200bb", "neither a letter"],
    ["__", "no letter or digit"],
    ["аdmin", "mixes scripts"],
    ["Lead", "reserved"],
    ["USER", "reserved"],
    ["host", "reserved"],
    ["ｌｅａｄ", "another form"],
    ["x".repeat(181), "too long"],
    ["漢".repeat(21), "too long"],
  ])("refuses %j and says why", (name, reason) => {
    const error = refusalOf(name);
    expect(error?.message).toContain(reason);
    expect(error).toMatchObject({ code: "bad-name", kind: "usage" });
  });

  it("names what kind of name was refused", () => {
    expect(() => checkName("a b", "team")).toThrow(/^team name/);
  });

  it("suggests a name that works, whatever was refused", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("*", "-lead", "ｕｓｅｒ", "___", "ＬＥＡＤ")),
        (name) => {
          const remedy = refusalOf(name)?.remedy;
          if (remedy === undefined) return;
          const suggested = remedy.replace("a name that works: ", "");
          expect(refusalOf(suggested)).toBeUndefined();
        },
      ),
    );
  });

  it("accepts only what makes a file name that stands for it alone", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (name) => {
        if (refusalOf(name) !== undefined) return;
        const file = fileNameOf(name);
        expect(file).toMatch(/^[a-z0-9_%-]+$/);
        expect(file.length).toBeLessThanOrEqual(maxEncodedKeyBytes);
        expect(Buffer.from(decodeURIComponent(file)).toString()).toBe(nameKey(name));
        expect(encodeKey(nameKey(nameKey(name)))).toBe(file);
      }),
    );
  });
});

function refusalOf(name: string): TroupeError | undefined {
  try {
    checkName(name);
    return undefined;
  } catch (error) {
    if (error instanceof TroupeError) return error;
    throw error;
  }
}
