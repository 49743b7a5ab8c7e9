import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nearest } from "../../src/team/nearest.js";

const members = ["reviewer", "scout", "mapper", "user", "lead"];

describe("nearest", () => {
  it.each([
    ["reviwer", "reviewer"],
    ["reveiwer", "reviewer"],
    ["Reviewer2", "reviewer"],
    ["SCOUT", "scout"],
    ["rev", "reviewer"],
    ["usr", "user"],
  ])("finds what was meant by %s", (typed, meant) => {
    expect(nearest(typed, members)).toBe(meant);
  });

  it.each(["fixer", "x", "", "something-else"])("finds nothing near %j", (typed) => {
    expect(nearest(typed, members)).toBeUndefined();
  });

  it("does not guess between two that begin alike", () => {
    expect(nearest("re", ["reviewer", "resolver"])).toBeUndefined();
  });

  it("forgives one mistake in any name of three letters or more", () => {
    const name = fc.stringMatching(/^[a-z]{3,12}$/);
    fc.assert(
      fc.property(name, fc.nat(), fc.constantFrom("drop", "double", "swap"), (meant, position, mistake) => {
        const at = position % (meant.length - 1);
        const typed = {
          drop: meant.slice(0, at) + meant.slice(at + 1),
          double: meant.slice(0, at) + meant[at] + meant.slice(at),
          swap: meant.slice(0, at) + meant[at + 1] + meant[at] + meant.slice(at + 2),
        }[mistake];
        expect(nearest(typed, [meant, "0000000000000000"])).toBe(meant);
      }),
    );
  });

  it("answers at once for a very long word", () => {
    const before = performance.now();
    expect(nearest("x".repeat(1_000_000), members)).toBeUndefined();
    expect(performance.now() - before).toBeLessThan(1000);
  });
});
