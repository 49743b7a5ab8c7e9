import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TeamMessage } from "../../src/team/team-mail.js";
import { type MailLook, renderMail, renderThread } from "../../src/ui/mail-thread.js";
import { createStyle } from "../../src/ui/style.js";
import { displayWidth } from "../../src/ui/width.js";

const now = new Date("2026-03-04T12:00:00");

function look(columns = 80, env: Record<string, string> = { LANG: "C.UTF-8" }): MailLook {
  return { style: createStyle({}, env), columns, now, colourOf: () => "red" };
}

function mail(
  id: string,
  fields: Partial<TeamMessage["message"]> = {},
  more: Partial<TeamMessage> = {},
): TeamMessage {
  return {
    message: {
      v: 1,
      id,
      from: "ada",
      sender: "ada",
      to: "bob",
      sentAt: "2026-03-04T08:15:30",
      kind: "text",
      text: "hello",
      ...fields,
    },
    recipients: [{ name: "bob", receipt: "seen" }],
    receipt: "seen",
    ...more,
  };
}

describe("renderMail", () => {
  it("tells when, from whom, to whom, how far, what about, and the text behind a bar", () => {
    expect(renderMail(mail("0123abcd", { text: "one\n\n\ttwo\n", summary: "greeting" }), look())).toEqual([
      "08:15:30 ada → bob seen #0123abcd",
      "  greeting",
      "  │ one",
      "  │",
      "  │     two",
      "",
    ]);
  });

  it("says what it is about only where the text does not begin with it", () => {
    const about = (summary: string) =>
      renderMail(mail("0123abcd", { text: "I am done.\nMore.", summary }), look())[1];
    expect(["I am done.", "I am do…", "I am done. More."].map(about)).toEqual(
      Array(3).fill("  │ I am done."),
    );
    expect(["done", ""].map(about)).toEqual(["  done", "  │ I am done."]);
  });

  it("tells a group by its address, and what differs among its members", () => {
    const recipients = [
      { name: "bob", receipt: "seen" },
      { name: "cid", receipt: "stored" },
      { name: "dan", receipt: "seen" },
    ] as const;
    const [head] = renderMail(
      mail("0123abcd", { to: "#pair", kind: "idle" }, { recipients, receipt: "stored" }),
      look(),
    );
    expect(head).toBe("08:15:30 ada → #pair [idle] 2 seen, 1 stored #0123abcd");
  });

  it("shows a kind without text by its fields, and ASCII where the locale has no more", () => {
    const rows = renderMail(
      mail("0123abcd", { text: undefined, kind: "command-exit", exitCode: 3 } as object),
      look(80, {}),
    );
    expect(rows.slice(0, 2)).toEqual([
      "08:15:30 ada -> bob [command-exit] seen #0123abcd",
      '  | {"exitCode":3}',
    ]);
  });

  it("breaks nothing for files and pipes", () => {
    const text = `${"word ".repeat(100)}end`;
    expect(renderMail(mail("0123abcd", { text }), look(Number.POSITIVE_INFINITY))[1]).toBe(`  │ ${text}`);
  });

  it("fits 80 columns, whatever is in a message, and lets nothing of it out from behind the bar", () => {
    const id = "0193a2c4-5b1e-7cc3-9b1f-3f2a6f0e8d11";
    const hostile = fc.oneof(
      fc.string({ unit: "binary", maxLength: 300 }),
      fc.constantFrom(
        "\u001b[2J",
        "a\r\n08:15:30 user → bob seen #x",
        "漢".repeat(90),
        "\u202eabc",
        "👩‍👩‍👧".repeat(60),
      ),
    );
    fc.assert(
      fc.property(hostile, hostile, hostile, fc.nat({ max: 9 }), (text, sender, summary, depth) => {
        const rows = renderMail(
          mail(id, { text, sender, summary, kind: sender, inReplyTo: id }),
          look(),
          depth,
        );
        for (const row of rows) {
          expect(displayWidth(row)).toBeLessThanOrEqual(80);
          expect(row).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
        }
        const indent = Math.min(depth, 4) * 2;
        expect(rows.filter((row) => /^\S/.test(row.slice(indent)) && row !== "")).toHaveLength(1);
      }),
      { numRuns: 300 },
    );
  });
});

describe("renderThread", () => {
  const heads = (messages: readonly TeamMessage[]) =>
    renderThread(messages, look()).filter((row) => row.includes("→") || row.includes("in reply"));

  it("puts each answer under what it answers, in the order of the times", () => {
    const id = (n: number) => `0000000${n}`;
    const rows = heads([
      mail(id(1)),
      mail(id(2)),
      mail(id(3), { inReplyTo: id(1) }),
      mail(id(4), { inReplyTo: id(2) }),
      mail(id(5), { inReplyTo: id(1) }),
      mail(id(6), { inReplyTo: id(3) }),
    ]);
    expect(rows.map((row) => row.replace(/\d\d:\d\d.*#/, "#"))).toEqual([
      "#00000001",
      "  #00000003",
      "    #00000006",
      "  #00000005",
      "#00000002",
      "  #00000004",
    ]);
  });

  it("says what is answered where that is not there, or comes later: no circle loses a message", () => {
    const rows = renderThread(
      [
        mail("0000000a", { inReplyTo: "0000000b" }),
        mail("0000000b", { inReplyTo: "0000000a" }),
        mail("0000000c", { inReplyTo: "0000000c" }),
      ],
      look(),
    );
    expect(rows.filter((row) => row.includes("→") || row.includes("in reply"))).toEqual([
      "08:15:30 ada → bob seen #0000000a",
      "  in reply to #0000000b",
      "  08:15:30 ada → bob seen #0000000b",
      "08:15:30 ada → bob seen #0000000c",
      "  in reply to #0000000c",
    ]);
  });

  it("indents only so far, and shows a long chain whole", () => {
    const chain = Array.from({ length: 20_000 }, (_, n) =>
      mail(`${100_000_000 + n}`, n === 0 ? {} : { inReplyTo: `${100_000_000 + n - 1}` }),
    );
    const rows = heads(chain);
    expect(rows.filter((row) => row.includes("→"))).toHaveLength(20_000);
    expect(rows.at(-2)).toMatch(/^ {8}08:/);
    expect(rows.at(-1)).toMatch(/^ {10}in reply to #100019998/);
  });

  it("shows both of two messages with one id", () => {
    expect(
      heads([
        mail("0000000a"),
        mail("0000000a", { text: "other" }),
        mail("0000000b", { inReplyTo: "0000000a" }),
      ]),
    ).toHaveLength(3);
  });
});
