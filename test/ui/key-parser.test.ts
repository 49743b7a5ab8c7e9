import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createKeyParser, type Key } from "../../src/ui/key-parser.js";
import { printable } from "../../src/util/text.js";

function keysOf(text: string): Key[] {
  const parser = createKeyParser();
  return [...parser.feed(Buffer.from(text)), ...parser.flush()];
}

const names = (text: string): string[] =>
  keysOf(text).map((key) => (key.type === "key" ? key.name : `${key.type}:${key.text}`));

describe("a key by its sequence", () => {
  it.each([
    ["\r", "enter"],
    ["\n", "enter"],
    ["\u001b[13u", "enter"],
    ["\u001b[13;1u", "enter"],
    ["\u001b[13;1:1u", "enter"],
    ["\u001b[57414u", "enter"],
    ["\u001bOM", "enter"],
    ["\u001b[13;2u", "shift-enter"],
    ["\u001b[27;2;13~", "shift-enter"],
    ["\u001b\r", "alt-enter"],
    ["\u001b", "escape"],
    ["\u001b[27u", "escape"],
    ["\u001b[27;129u", "escape"],
    ["\u007f", "backspace"],
    ["\b", "backspace"],
    ["\u001b[3~", "delete"],
    ["\u001b[A", "up"],
    ["\u001bOA", "up"],
    ["\u001b[1;5D", "ctrl-left"],
    ["\u001b[1;3C", "alt-right"],
    ["\u001b\u001b[D", "alt-left"],
    ["\u001b[H", "home"],
    ["\u001b[1~", "home"],
    ["\u001bOF", "end"],
    ["\u0001", "ctrl-a"],
    ["\u001b[97;5u", "ctrl-a"],
    ["\u001b[99;5u", "ctrl-c"],
    ["\u0003", "ctrl-c"],
    ["\u001bb", "alt-b"],
    ["\u001b[Z", "shift-tab"],
    ["\u001b[97u", "text:a"],
    ["\u001b[97:65;2u", "text:A"],
    ["\u001b[97;2u", "text:A"],
    ["\u001b[97:99999999;2u", "text:A"],
  ])("%j is %s", (sequence, name) => expect(names(sequence)).toEqual([name]));

  it.each([
    ["the release of a key", "\u001b[13;1:3u"],
    ["a focus report", "\u001b[I"],
    ["a cursor position report", "\u001b[12;40R"],
    ["a colour report", "\u001b]11;rgb:0000/0000/0000\u0007"],
    ["a device report", "\u001bP1$r0m\u001b\\"],
    ["a mouse report", "\u001b[<0;12;3M"],
    ["a function key of the Linux console", "\u001b[[A"],
    ["a key without a character", "\u001b[57358u"],
    ["a code point that there is not", "\u001b[99999999u\u001b[55296u"],
    ["an unfinished sequence", "\u001b[1;"],
  ])("%s is nothing", (_, sequence) => expect(names(sequence)).toEqual([]));

  it("does not swallow what comes after a broken sequence", () => {
    expect(names("\u001b[1\rx")).toEqual(["enter", "text:x"]);
    expect(names("\u001bO\rx")).toEqual(["enter", "text:x"]);
  });
});

it("takes Esc before another key for what it is", () => {
  expect(names("\u001b\u001b")).toEqual(["escape", "escape"]);
  const parser = createKeyParser();
  expect(parser.feed(Buffer.from("\u001b"))).toEqual([]);
  expect(parser.pending()).toBe("escape");
  expect(parser.flush()).toEqual([{ type: "key", name: "escape" }]);
  expect(parser.pending()).toBeUndefined();
  expect(parser.feed(Buffer.from("x"))).toEqual([{ type: "text", text: "x" }]);
});

describe("a paste", () => {
  it("is one key with its line breaks and without control characters", () => {
    expect(keysOf("a\u001b[200~one\rtwo\r\n\u001b[31mthree\u0003\u001b[201~b")).toEqual([
      { type: "text", text: "a" },
      { type: "paste", text: "one\ntwo\n[31mthree" },
      { type: "text", text: "b" },
    ]);
  });

  it("that does not end is given after a while and blocks nothing", () => {
    const parser = createKeyParser();
    expect(parser.feed(Buffer.from("\u001b[200~half"))).toEqual([]);
    expect(parser.pending()).toBe("paste");
    expect(parser.flush()).toEqual([{ type: "paste", text: "half" }]);
    expect(parser.feed(Buffer.from("\u001b[201~\r"))).toEqual([{ type: "key", name: "enter" }]);
  });

  it("is the pasted text, whatever it is", () =>
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        fc.pre(!text.includes("\u001b[201~"));
        expect(keysOf(`\u001b[200~${text}\u001b[201~`)).toEqual([{ type: "paste", text: printable(text) }]);
      }),
    ));
});

const input = fc.array(
  fc.oneof(
    fc.constantFrom(
      ..."\u001b|\r|\u001b[|\u001bO|\u001b]|\u001bP|\u0007|\u001b\\|\u001b[A|\u001b[1;5D|\u001b[13;2u|\u001b[200~|\u001b[201~|[|;|5|u|~".split(
        "|",
      ),
    ),
    fc.string({ unit: "grapheme", maxLength: 5 }),
    fc.string({ unit: "binary", maxLength: 3 }),
  ),
);

it("gives the same keys however the bytes arrive, and never a control character as text", () =>
  fc.assert(
    fc.property(input, fc.infiniteStream(fc.integer({ min: 1, max: 4 })), (parts, sizes) => {
      const bytes = Buffer.from(parts.join(""));
      const whole = createKeyParser();
      const pieces = createKeyParser();
      const expected = [...whole.feed(bytes), ...whole.flush()];
      const actual: Key[] = [];
      for (let at = 0; at < bytes.length; ) {
        const end = at + (sizes.next().value ?? 1);
        actual.push(...pieces.feed(bytes.subarray(at, end)));
        at = end;
      }
      actual.push(...pieces.flush());
      expect(joined(actual)).toEqual(joined(expected));
      for (const key of expected)
        if (key.type !== "key") expect(key.text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    }),
    { numRuns: 500 },
  ));

/** Neighbouring pieces of text as one. */
function joined(keys: readonly Key[]): Key[] {
  const list: Key[] = [];
  for (const key of keys) {
    const last = list.at(-1);
    if (key.type === "text" && last?.type === "text")
      list[list.length - 1] = { type: "text", text: last.text + key.text };
    else list.push(key);
  }
  return list;
}
