import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { idPattern } from "../../mailbox/layout.js";
import {
  maxDepth,
  maxFileBytes,
  maxNameBytes,
  maxTextBytes,
  messageVersion,
  parseMessage,
} from "../../mailbox/message.js";
import { letter } from "./support.js";

const root = path.join(import.meta.dirname, "../..");
const schema: Schema = JSON.parse(fs.readFileSync(path.join(root, "mailbox/message.schema.json"), "utf8"));

interface Schema {
  readonly [keyword: string]: unknown;
}

/** Says nothing about the value it stands beside. */
const annotations = ["$schema", "$id", "$defs", "title", "description", "format"];

/** Whether a value fits a schema of those keywords that ours is made of; any other one is an error. */
function fits(value: unknown, rules: Schema): boolean {
  const record = isRecord(value) ? value : undefined;
  const text = typeof value === "string" ? value : undefined;
  const checks: Record<string, (wanted: never) => boolean> = {
    type: (wanted: string) => (wanted === "object" ? record !== undefined : typeof value === wanted),
    const: (wanted: unknown) => value === wanted,
    pattern: (wanted: string) => text === undefined || new RegExp(wanted, "u").test(text),
    minLength: (wanted: number) => text === undefined || [...text].length >= wanted,
    maxLength: (wanted: number) => text === undefined || [...text].length <= wanted,
    required: (wanted: string[]) =>
      wanted.every((name) => record === undefined || Object.hasOwn(record, name)),
    properties: (wanted: Record<string, Schema>) =>
      Object.entries(wanted).every(
        ([name, each]) => record === undefined || !Object.hasOwn(record, name) || fits(record[name], each),
      ),
    $ref: (wanted: string) =>
      fits(value, (schema["$defs"] as Record<string, Schema>)[wanted.replace("#/$defs/", "")]!),
    if: (wanted: Schema) => !fits(value, wanted) || fits(value, rules["then"] as Schema),
    // biome-ignore lint/suspicious/noThenProperty: the keyword's name
    then: () => true,
  };
  return Object.entries(rules).every(([keyword, wanted]) => {
    if (annotations.includes(keyword)) return true;
    const check = checks[keyword];
    if (check === undefined) throw new Error(`unknown keyword ${keyword}`);
    return check(wanted as never);
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const digits = (length: number) => fc.stringMatching(new RegExp(`^\\d{${length}}$`));

/** Near misses of a time: right in form, and mostly not in range. */
const times = fc
  .tuple(
    ...[digits(4), digits(2), digits(2), fc.constantFrom("T", "t", " "), digits(2), digits(2), digits(2)],
    fc.constantFrom("", ".5", ".123456789123", "."),
    fc.constantFrom("Z", "z", "+01:00", "-23:59", "+24:00", "+0100", ""),
  )
  .map(([y, mo, d, t, h, mi, s, fraction, zone]) => `${y}-${mo}-${d}${t}${h}:${mi}:${s}${fraction}${zone}`);

const fractions = fc.constantFrom("", ".5", ".123456789123", ".");
const zones = fc.constantFrom("Z", "z", "+01:00", "-23:59", "+24:00", "+0100", "");

/** Times that exist, in forms most of which are right. */
const existingTimes = fc
  .tuple(fc.date({ min: new Date(0), max: new Date("9999-12-31"), noInvalidDate: true }), fractions, zones)
  .map(([date, fraction, zone]) => `${date.toISOString().slice(0, 19)}${fraction}${zone}`);

const texts = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.string({ minLength: 500, maxLength: 520 }),
  fc.constantFrom("", "text", "idle", "*", "\u007f", "\u0080", "\u009f", "\u00a0", "é", "\ud800", "😀"),
);

const anything = fc.oneof(
  texts,
  fc.anything().filter((value) => value !== undefined && JSON.stringify(value) !== undefined),
  fc.constantFrom(0, 1, -1, 1.5, null, true, [], {}),
);

const ids = fc.oneof(
  fc.stringMatching(/^[0-9a-z][0-9a-z-]{6,64}$/),
  fc.string({ maxLength: 70 }),
  fc.constantFrom("abcdefg", "abcdefgh", "Abcdefgh", "-bcdefgh", `a${"b".repeat(63)}`, `a${"b".repeat(64)}`),
);

const fields = fc.record({
  v: fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, anything),
  id: ids,
  from: texts,
  to: texts,
  sentAt: fc.oneof(times, existingTimes),
  kind: texts,
  text: anything,
  summary: anything,
  inReplyTo: fc.oneof(ids, anything),
  seal: anything,
  ["__proto__"]: anything,
  extra: anything,
});

/** A message in which a few fields are others, and a few are missing. */
const nearMessages = fc
  .tuple(fields, fc.subarray(Object.keys(letter()), { maxLength: 1 }), fc.nat(), fc.nat(), fc.boolean())
  .map(([others, left, one, another, both]) => {
    const entries = Object.entries(others);
    const changed = both ? [one, another] : [one];
    const value = Object.fromEntries([
      ...Object.entries(letter()),
      ...changed.map((n) => entries[n % entries.length] ?? ["", undefined]),
    ]);
    for (const name of left) delete value[name];
    return value;
  });

describe("the schema of a message", () => {
  test("and the parser accept the same values", () => {
    const verdicts = new Set<string>();
    fc.assert(
      fc.property(nearMessages, (value) => {
        // As it is in a file: what JSON cannot say is gone.
        const json = JSON.stringify(value);
        const read = JSON.parse(json);
        const { from, to, kind } = read;
        fc.pre(
          [from, to, kind].every(
            (name) => Buffer.byteLength(String(name)) <= maxNameBytes || [...name].length > maxNameBytes,
          ),
        );
        const { type } = parseMessage(Buffer.from(json), `${read.id}.json`);
        verdicts.add(type);
        expect(type === "message").toBe(fits(read, schema));
      }),
      { numRuns: 2000, seed: 1 },
    );
    expect(verdicts).toEqual(new Set(["message", "newer", "bad"]));
  });

  test("refuses what is no object, as the parser does", () => {
    for (const value of [null, 1, "text", [], [letter()], true]) expect(fits(value, schema)).toBe(false);
  });

  test("states the parser's limits, where it can in a rule and else in words", () => {
    const { properties, $defs } = schema as Record<string, Record<string, Schema>>;
    expect($defs!["id"]).toMatchObject({ pattern: idPattern.source });
    expect($defs!["name"]).toMatchObject({ maxLength: maxNameBytes });
    expect(properties!["text"]).toMatchObject({ maxLength: maxTextBytes });
    expect(properties!["v"]).toMatchObject({ const: messageVersion });
    for (const limit of [maxNameBytes, maxTextBytes, maxFileBytes, maxDepth])
      expect(schema["description"]).toContain(String(limit));
  });
});
