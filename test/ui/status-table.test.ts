import fc from "fast-check";
import { expect, it } from "vitest";
import { renderStatus, type StatusRow } from "../../src/ui/status-table.js";
import { createStyle } from "../../src/ui/style.js";
import { displayWidth } from "../../src/ui/width.js";
import { hostile } from "./events.js";

const now = new Date("2026-01-02T03:05:00Z");
const style = createStyle({}, { LANG: "C.UTF-8" });
const members: StatusRow[] = [
  {
    name: "scout",
    colour: "red",
    state: "working",
    since: "2026-01-02T03:04:48Z",
    unread: 2,
    activity: 'Grep "TODO" in src',
    model: "offline",
    context: 9000,
    billed: { input: 1000, output: 250, cacheRead: 11_300, cacheWrite: 0 },
    backend: "tmux",
    pane: "%3",
  },
  {
    name: "stats",
    state: "ended",
    reason: "failed",
    detail: "exit code 3",
    since: "2026-01-02T03:00:00Z",
    unread: 0,
  },
];
const table = (columns: number, rows = members): string[] => renderStatus(rows, { style, columns, now });

it("shows all of it where there is room", () => {
  expect(table(Number.POSITIVE_INFINITY)).toEqual([
    "NAME   STATE                        SINCE  UNREAD  MODEL               CONTEXT  TOKENS             WHERE    ACTIVITY",
    'scout  working                      12 s   2       offline (scripted)  9.0k     12.3k in, 250 out  tmux %3  Grep "TODO" in src',
    "stats  ended (failed): exit code 3  5 min",
  ]);
});

it("leaves out what matters less where there is not", () => {
  expect(table(80)).toEqual([
    "NAME   STATE                        SINCE  UNREAD  WHERE    ACTIVITY",
    'scout  working                      12 s   2       tmux %3  Grep "TODO" in src',
    "stats  ended (failed): exit code 3  5 min",
  ]);
  expect(table(60)[0]).toBe("NAME   STATE                        UNREAD  ACTIVITY");
});

it("leaves out columns that say nothing", () =>
  expect(table(80, [{ name: "user", state: "idle", since: "", unread: 0 }])).toEqual([
    "NAME  STATE",
    "user  idle",
  ]));

it("fits any width and lets no control character through, whatever the members say", () => {
  const text = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 40 }),
    fc.constantFrom(hostile, "漢字".repeat(20), "☁️1️⃣", "👩‍👧"),
  );
  const row: fc.Arbitrary<StatusRow> = fc.record({
    name: text,
    state: fc.constantFrom("working" as const, "idle" as const, "ended" as const),
    since: fc.constantFrom("2026-01-02T03:04:05Z", "never"),
    unread: fc.nat(1000),
    detail: text,
    activity: text,
    model: text,
    backend: text,
    pane: text,
  });
  fc.assert(
    fc.property(fc.array(row, { maxLength: 4 }), fc.integer({ min: 1, max: 120 }), (rows, columns) => {
      for (const line of table(columns, rows)) {
        expect(displayWidth(line)).toBeLessThanOrEqual(columns);
        expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
      }
    }),
  );
});

it("colours nothing on a plain stream and the name on a terminal", () => {
  const colourful = createStyle({ isTTY: true }, { LANG: "C.UTF-8" });
  expect(renderStatus(members, { style: colourful, columns: 80, now })[1]).toContain("\u001b[38;5;203mscout");
  expect(table(80).join("")).not.toContain("\u001b");
});
