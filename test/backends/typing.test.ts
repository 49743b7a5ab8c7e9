import { describe, expect, it } from "vitest";
import type { View } from "../../backends/typed-text.js";
import { type TypingPort, typeText } from "../../backends/typing.js";

const blank: View = { text: "> ", toCursor: "> ", cursor: "0,2" };
const typed: View = { text: "> hello", toCursor: "> hello", cursor: "0,7" };
const broken = () => Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });

/** A terminal that shows what was pasted, and fails at the look or the Enter with this number. */
function failing(at: "look" | "enter", count: number) {
  const calls = { look: 0, enter: 0, paste: 0 };
  const call = (what: "look" | "enter") => {
    calls[what]++;
    if (what === at && calls[what] === count) throw broken();
  };
  const port: TypingPort = {
    hasScreen: true,
    async look() {
      call("look");
      return calls.paste > 0 ? typed : blank;
    },
    async paste() {
      calls.paste++;
      return undefined;
    },
    async enter() {
      call("enter");
      return undefined;
    },
  };
  return { port, calls };
}

describe("what fails in any way", () => {
  it.each([
    ["the first look after it", "look", 2],
    ["the look before Enter", "look", 3],
    ["Enter", "enter", 1],
    ["the look after Enter", "look", 4],
  ] as const)("once the text is typed leaves it unknown: %s", async (_, at, count) => {
    const { port, calls } = failing(at, count);
    expect(await typeText(port, "hello", {})).toMatchObject({
      outcome: "unknown",
      reason: expect.stringContaining("EMFILE"),
    });
    expect(calls.paste).toBe(1);
  });

  it("before that is thrown, and nothing is typed", async () => {
    const { port, calls } = failing("look", 1);
    await expect(typeText(port, "hello", {})).rejects.toThrow("EMFILE");
    expect(calls.paste).toBe(0);
  });
});
