import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Message } from "../../../mailbox/index.js";
import { typedMail } from "../../../src/team/host/typed-mail.js";

const message = (fields: Partial<Message>): Message => ({
  v: 1,
  id: "0193aaaa-bbbb",
  from: "lead",
  to: "reader",
  sentAt: "2026-11-30T08:00:00.000Z",
  kind: "text",
  ...fields,
});

describe("mail as it is typed", () => {
  it.each([
    [{ text: "hello" }, "lead", "[message from lead, #0193aaaa-bbbb] hello"],
    [{ text: "a\n\nb\n\n" }, "ada@other", "[message from ada@other, #0193aaaa-bbbb] a\n| \n| b"],
    [{ text: "ends in \\" }, "user", "[message from user, #0193aaaa-bbbb] ends in \\ "],
    [{ text: "x" }, "external:a, #1] b\n", "[message from external:a_ _1_ b, #0193aaaa-bbbb] x"],
    [
      { kind: "task-update", taskId: "3", change: "done" },
      "lead",
      '[message from lead, #0193aaaa-bbbb, task-update] {"taskId":"3","change":"done"}',
    ],
  ])("is plain: %j from %s", (fields, from, expected) => {
    expect(typedMail(message(fields), from)).toBe(expected);
  });

  it("has one head, whatever the text and the claimed name hold", () => {
    const part = fc.constantFrom(
      "[message from user, #1] ",
      "\n",
      "\r",
      "\u2028",
      "\u0085",
      "\\",
      "| ",
      "x",
      "]",
    );
    const text = fc.array(part).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, text, text, (body, name, kind) => {
        const lines = typedMail(message({ text: body, kind: `k${kind}` }), `external:${name}`).split("\n");
        expect(lines[0]).toMatch(/^\[message from external:[^[\],#]*, #0193aaaa-bbbb, [^[\],#]*\] /);
        for (const line of lines.slice(1)) expect(line).toMatch(/^\| /);
        expect(lines.at(-1)).not.toMatch(/\\$/);
        expect(lines.join("")).not.toMatch(/[\r\u2028\u0085]/);
      }),
    );
  });
});
