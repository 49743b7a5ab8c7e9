import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Key } from "../../src/ui/key-parser.js";
import { emptyLine, inputRow, type LineState, pressKey, textOf } from "../../src/ui/line-editor.js";
import { displayWidth } from "../../src/ui/width.js";

const press = (line: LineState, ...keys: (string | Key)[]): LineState =>
  keys.reduce<LineState>(
    (state, key) => pressKey(state, typeof key === "string" ? { type: "key", name: key } : key).line,
    line,
  );
const typed = (text: string): LineState => press(emptyLine, { type: "text", text });
const shown = ({ before, after }: LineState): string => `${before}|${after}`;

describe("moving and deleting", () => {
  it.each<[string, string[], string]>([
    ["abc", ["left"], "ab|c"],
    ["abc", ["left", "left", "right"], "ab|c"],
    ["abc", ["home"], "|abc"],
    ["abc", ["ctrl-a", "end"], "abc|"],
    ["abc", ["ctrl-a", "ctrl-e"], "abc|"],
    ["abc", ["backspace"], "ab|"],
    ["abc", ["left", "delete"], "ab|"],
    ["abc", ["home", "ctrl-d"], "|bc"],
    ["abc def", ["left", "ctrl-k"], "abc de|"],
    ["abc def", ["left", "ctrl-u"], "|f"],
    ["abc  def ", ["ctrl-w"], "abc  |"],
    ["abc  def ", ["ctrl-w", "ctrl-w"], "|"],
    ["a👩‍👧e\u0301", ["backspace"], "a👩‍👧|"],
    ["a👩‍👧e\u0301", ["backspace", "backspace"], "a|"],
    ["a👩‍👧b", ["left", "left"], "a|👩‍👧b"],
    ["a👩‍👧b", ["home", "right", "right"], "a👩‍👧|b"],
    ["", ["left", "right", "backspace", "delete", "ctrl-w"], "|"],
    ["abc", ["page-up", "alt-b", "tab"], "abc|"],
    ["abc", ["shift-enter"], "abc\n|"],
  ])("%j by %j is %j", (text, keys, expected) => expect(shown(press(typed(text), ...keys))).toBe(expected));

  it("takes no character that reorders text or ends lines", () =>
    expect(textOf(typed("a\u202eb\u2028c\u0007"))).toBe("abc"));

  it("types where the cursor is", () =>
    expect(shown(press(typed("ac"), "left", { type: "text", text: "b" }))).toBe("ab|c"));

  it("keeps the cursor between whole characters and the text a text, whatever is pressed", () => {
    const key = fc.oneof(
      fc.constantFrom(
        "left",
        "right",
        "home",
        "end",
        "backspace",
        "delete",
        "ctrl-k",
        "ctrl-u",
        "ctrl-w",
        "up",
        "down",
        "enter",
      ),
      fc.string({ unit: "grapheme", minLength: 1 }).map((text): Key => ({ type: "text", text })),
      fc.string({ unit: "grapheme" }).map((text): Key => ({ type: "paste", text })),
    );
    fc.assert(
      fc.property(fc.array(key, { maxLength: 40 }), fc.integer({ min: 6, max: 60 }), (keys, width) => {
        const line = press(emptyLine, ...keys);
        expect(textOf(line)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f]/);
        expect(Buffer.from(textOf(line)).toString()).toBe(textOf(line));
        const row = inputRow(line, "message scout: ", width, "↵");
        expect(displayWidth(row.before) + displayWidth(row.after)).toBeLessThanOrEqual(width);
        expect(row.before + row.after).not.toContain("\n");
      }),
    );
  });
});

describe("what a key asks for", () => {
  it("sends the line without blanks around it, and empties it", () => {
    const { line, action } = pressKey(typed("  hello\nyou \n"), { type: "key", name: "enter" });
    expect(action).toEqual({ type: "send", text: "hello\nyou" });
    expect(shown(line)).toBe("|");
  });

  it("sends nothing where there is nothing", () =>
    expect(pressKey(typed("  "), { type: "key", name: "enter" }).action).toBeUndefined());

  it.each([
    ["escape", "", "escape"],
    ["ctrl-c", "abc", "interrupt"],
    ["ctrl-d", "", "end"],
  ])("%s on %j asks for %s", (name, text, type) =>
    expect(pressKey(typed(text), { type: "key", name }).action).toEqual({ type }),
  );

  it("asks for nothing by Ctrl-D on a line", () =>
    expect(pressKey(typed("abc"), { type: "key", name: "ctrl-d" }).action).toBeUndefined());
});

it("walks through what was sent and back to what was being typed", () => {
  const sent = press(
    emptyLine,
    { type: "text", text: "one" },
    "enter",
    { type: "text", text: "two" },
    "enter",
  );
  const draft = press(sent, { type: "text", text: "three" });
  expect(shown(press(draft, "up"))).toBe("two|");
  expect(shown(press(draft, "up", "up"))).toBe("one|");
  expect(shown(press(draft, "up", "up", "up"))).toBe("one|");
  expect(shown(press(draft, "up", "up", "down"))).toBe("two|");
  expect(shown(press(draft, "up", "down"))).toBe("three|");
  expect(press(sent, "up", "enter").history).toEqual(["one", "two"]);
});

describe("the row", () => {
  it("shows line breaks as a sign", () =>
    expect(inputRow(press(typed("a"), "shift-enter", { type: "text", text: "b" }), "> ", 20, "↵")).toEqual({
      before: "> a↵b",
      after: "",
    }));

  it("scrolls so that the cursor stays in sight", () => {
    const line = typed("0123456789abcdefghij");
    expect(inputRow(line, "> ", 10, "↵")).toEqual({ before: "> defghij", after: "" });
    expect(inputRow(press(line, "home"), "> ", 10, "↵")).toEqual({ before: "> ", after: "01234567" });
  });

  it("shortens a prompt that leaves no room", () =>
    expect(inputRow(typed("abc"), "message scout: ", 20, "↵").before).toBe("> abc"));
});
