import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  encodeMessage,
  laneOf,
  maxFileBytes,
  maxTextBytes,
  newMessageId,
  parseMessage,
} from "../../mailbox/message.js";
import { letter } from "./support.js";

const id = "0193a2c4-5b1e-7cc3-9b1f-3f2a6f0e8d11";
const parse = (value: unknown, name = `${id}.json`) => parseMessage(Buffer.from(JSON.stringify(value)), name);

describe("parseMessage", () => {
  test("gives back what encodeMessage wrote, unknown fields too", () => {
    const message = letter({ id, summary: "s", inReplyTo: newMessageId(), extra: { deep: [1, null] } });
    const parsed = parseMessage(encodeMessage(message), `${id}.json`);
    expect(parsed).toEqual({ type: "message", message });
  });

  test("knows no kind that it refuses", () => {
    expect(parse(letter({ id, kind: "from-the-future" })).type).toBe("message");
  });

  test("tells a newer version from rubbish", () => {
    expect(parse({ v: 2, whatever: true })).toEqual({ type: "newer", v: 2 });
    for (const v of [0, -1, 1.5, "1", null, undefined])
      expect(parse({ ...letter({ id }), v }).type).toBe("bad");
  });

  test.each([
    ["id", "short"],
    ["id", "UPPERCASE-IS-REFUSED"],
    ["id", "-starts-with-a-dash"],
    ["id", "a".repeat(65)],
    ["id", "dots.are.refused"],
    ["id", 12345678],
    ["from", ""],
    ["from", 7],
    ["from", "a\nb"],
    ["from", "a\u009bb"],
    ["to", "x".repeat(513)],
    ["kind", undefined],
    ["sentAt", "yesterday"],
    ["sentAt", "2026-13-01T00:00:00Z"],
    ["sentAt", 1764500000],
    ["text", undefined],
    ["text", ["a"]],
    ["text", "é".repeat(maxTextBytes / 2 + 1)],
    ["summary", 1],
    ["inReplyTo", "../../etc"],
    ["seal", {}],
  ])("refuses %s = %j", (field, value) => {
    const message = { ...letter({ id }), [field]: value };
    expect(parse(message, `${String(message.id)}.json`).type).toBe("bad");
  });

  test("accepts exactly 1 MiB of text, and any RFC 3339 time", () => {
    expect(parse(letter({ id, text: "é".repeat(maxTextBytes / 2) })).type).toBe("message");
    expect(parse(letter({ id, sentAt: "2026-11-30T09:00:00+01:00" })).type).toBe("message");
  });

  test("needs no text but for kind text", () => {
    const { text: _, ...rest } = letter({ id, kind: "idle" });
    expect(parse(rest).type).toBe("message");
  });

  test("refuses another file's id, bytes that are no text, and too many of them", () => {
    expect(parse(letter({ id }), "0193a2c4-5b1e-7cc3-9b1f-3f2a6f0e8d12.json").type).toBe("bad");
    expect(parseMessage(Buffer.from([0x22, 0xff, 0x22]), `${id}.json`)).toEqual({
      type: "bad",
      reason: "not UTF-8",
    });
    expect(parseMessage(Buffer.alloc(maxFileBytes + 1, 0x20), `${id}.json`).type).toBe("bad");
    expect(parseMessage(Buffer.from("[]"), `${id}.json`).type).toBe("bad");
  });

  test("refuses nesting that would overflow whoever prints it", () => {
    const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
    const text = `${JSON.stringify(letter({ id })).slice(0, -1)},"deep":${deep}}`;
    expect(parseMessage(Buffer.from(text), `${id}.json`)).toEqual({
      type: "bad",
      reason: "nested deeper than 64",
    });
  });

  test("counts no brackets inside of texts, whatever is escaped there", () => {
    for (const text of [
      "[".repeat(100),
      `"${"{".repeat(100)}`,
      `\\${"[".repeat(100)}`,
      `\\"\\\\"${"[".repeat(100)}`,
    ])
      expect(parse(letter({ id, text }))).toMatchObject({ type: "message", message: { text } });
  });

  test("never throws, and never accepts what encodeMessage would refuse", () => {
    const field = fc.constantFrom(
      "v",
      "id",
      "from",
      "to",
      "sentAt",
      "kind",
      "text",
      "summary",
      "seal",
      "__proto__",
    );
    const mutation = fc.dictionary(field, fc.jsonValue(), { maxKeys: 3, noNullPrototype: true });
    fc.assert(
      fc.property(mutation, (changes) => {
        const value = { ...letter({ id }), ...changes };
        const parsed = parse(value);
        if (parsed.type === "message") expect(encodeMessage(parsed.message).length).toBeGreaterThan(0);
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.string(), (bytes, name) => {
        expect(["bad", "newer"]).toContain(parseMessage(bytes, name).type);
      }),
    );
  });

  test("gives reasons that are safe to print", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const parsed = parseMessage(Buffer.from(text), `${id}.json`);
        if (parsed.type === "bad") expect(parsed.reason).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
      }),
    );
  });
});

describe("encodeMessage", () => {
  test("refuses what no reader would accept, as wrong usage", () => {
    expect(() => encodeMessage(letter({ id: "x" }))).toThrow(
      expect.objectContaining({ code: "bad-message", kind: "usage" }),
    );
    expect(() => encodeMessage(letter({ more: "x".repeat(maxFileBytes) }))).toThrow(/larger than/);
  });

  test.each([
    [{ id: "NO" }, /8 to 64 of a-z.*leave it out/],
    [{ inReplyTo: "X" }, /8 to 64 of a-z.*answers/],
    [{ text: "x".repeat(maxTextBytes + 1) }, /send its path/],
    [{ more: "x".repeat(maxFileBytes) }, /send its path/],
    [{ from: "a\nb" }, /mailbox-protocol/],
    [{ more: 1n }, /JSON/],
  ])("says what helps: %#", (fields, remedy) => {
    const refused = expect.objectContaining({ code: "bad-message", remedy: expect.stringMatching(remedy) });
    expect(() => encodeMessage(letter(fields as object))).toThrow(refused);
  });
});

describe("newMessageId", () => {
  test("gives ids that grow", () => {
    const ids = Array.from({ length: 5000 }, newMessageId);
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

test("control mail is told from text", () => {
  expect(laneOf(letter({ kind: "interrupt" }))).toBe("control");
  expect(laneOf(letter({ kind: "shutdown-response" }))).toBe("text");
});
