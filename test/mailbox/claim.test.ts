import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { claimantLiveness, claimantOf } from "../../mailbox/claimant.js";
import { type Mailbox, openMailbox, parseClaimFile, receiptOf } from "../../mailbox/index.js";
import { encodeMessage } from "../../mailbox/message.js";
import { selfIdentity } from "../../src/util/process-identity.js";
import { deadClaimant, letter, names, plant, scratchMailbox } from "./support.js";

const texts = (box: Mailbox, ...args: Parameters<Mailbox["claim"]>) =>
  box.claim(...args).messages.map(({ text }) => text);

async function boxWith(count: number): Promise<{ dir: string; box: Mailbox; ids: string[] }> {
  const dir = await scratchMailbox();
  const box = openMailbox(dir);
  const messages = Array.from({ length: count }, (_, n) => letter({ text: String(n) }));
  await Promise.all(messages.map((message) => box.send(message)));
  return { dir, box, ids: messages.map(({ id }) => id) };
}

describe("claiming", () => {
  test("takes mail in order, each message once, and tells where the limit cut it", async () => {
    const { dir, box } = await boxWith(5);
    expect(box.claim(2)).toMatchObject({ messages: [{ text: "0" }, { text: "1" }], more: true });
    expect(texts(openMailbox(dir))).toEqual(["2", "3", "4"]);
    expect(box.claim()).toEqual({ messages: [], problems: [], more: false });
    expect(box.counts()).toMatchObject({ new: 0, cur: 5 });
  });

  test("by a file's name takes that one alone, wherever the name comes from", async () => {
    const { dir, box, ids } = await boxWith(3);
    const nothing = { messages: [], problems: [], more: false };
    expect(box.claimNamed(`${ids[1]}.json`)).toMatchObject({ messages: [{ text: "1" }], problems: [] });
    for (const name of [`${ids[1]}.json`, "gone-000.json", ".lock-000", "../mailbox.json", "x/../y.json", ""])
      expect(box.claimNamed(name)).toEqual(nothing);
    plant(dir, "new", "rubbish-1.json", "{");
    expect(box.claimNamed("rubbish-1.json")).toMatchObject({ messages: [], problems: [{ type: "bad" }] });
    expect(box.counts()).toMatchObject({ new: 2, cur: 1, bad: 1 });
    expect(texts(box)).toEqual(["0", "2"]);
  });

  test("puts the claimant into the file's name", async () => {
    const { dir, box, ids } = await boxWith(1);
    box.claim();
    const [name = ""] = names(dir, "cur");
    expect(parseClaimFile(name)).toEqual({ name, id: ids[0], claimant: claimantOf(selfIdentity()) });
    expect(name).toMatch(/^[0-9a-z-]+~\d+-[0-9A-Za-z]+-[0-9A-Za-z]+-[0-9A-Za-z]+\.json$/);
  });

  test("acknowledging is idempotent, and tells what was not claimed here", async () => {
    const { box, ids } = await boxWith(2);
    expect(box.acknowledge(ids)).toEqual(ids);
    box.claim(1);
    expect(box.acknowledge(ids)).toEqual([ids[1]]);
    expect(box.acknowledge(ids)).toEqual([ids[1]]);
    expect(box.counts()).toMatchObject({ new: 1, cur: 0, done: 1 });
  });

  test("what is put back comes again, in its old place", async () => {
    const { box, ids } = await boxWith(3);
    box.claim();
    box.release([ids[1]!]);
    expect(texts(box)).toEqual(["1"]);
    box.acknowledge([ids[0]!]);
    box.release();
    expect(texts(box)).toEqual(["1", "2"]);
  });

  test("putting back onto a second name of the same file leaves one", async () => {
    const { dir, box, ids } = await boxWith(1);
    box.claim();
    fs.linkSync(path.join(dir, "cur", names(dir, "cur")[0]!), path.join(dir, "new", `${ids[0]}.json`));
    box.release();
    expect(box.counts()).toMatchObject({ new: 1, cur: 0 });
    expect(texts(box)).toEqual(["0"]);
  });

  test("a failure is told after everything else was done", async () => {
    const { dir, box, ids } = await boxWith(2);
    box.claim();
    fs.mkdirSync(path.join(dir, "done", `${ids[0]}.json`));
    expect(() => box.acknowledge(ids)).toThrow(expect.objectContaining({ code: "mail-not-moved" }));
    expect(names(dir, "done")).toContain(`${ids[1]}.json`);
  });
});

describe("a message that was sent twice", () => {
  test("is dropped while the first one is at hand, also where both names are one file", async () => {
    const { dir, box, ids } = await boxWith(1);
    const message = box.claim().messages[0]!;
    const file = path.join(dir, "new", `${ids[0]}.json`);
    for (const again of [
      () => fs.writeFileSync(file, encodeMessage(message)),
      () => fs.linkSync(path.join(dir, "cur", names(dir, "cur")[0]!), file),
    ]) {
      again();
      expect(texts(box)).toEqual([]);
      expect(box.counts()).toMatchObject({ new: 0, cur: 1 });
    }
  });

  test("is dropped after the first one was seen, also where both names are one file", async () => {
    const { dir, box, ids } = await boxWith(1);
    const message = box.claim().messages[0]!;
    box.acknowledge(ids);
    const [seen, file] = ["done", "new"].map((room) => path.join(dir, room, `${ids[0]}.json`));
    for (const again of [
      () => fs.writeFileSync(file!, encodeMessage(message)),
      () => fs.linkSync(seen!, file!),
    ]) {
      again();
      expect(texts(box)).toEqual([]);
      expect(box.counts()).toMatchObject({ new: 0, cur: 0, done: 1 });
    }
  });
});

describe("taking over", () => {
  const plantClaim = (dir: string, claimant: string, text: string) => {
    const message = letter({ text });
    plant(dir, "cur", `${message.id}~${claimant}.json`, encodeMessage(message));
    return message;
  };

  test("mail of a process that ended comes before new mail, unless it is not asked for", async () => {
    const { dir, box } = await boxWith(1);
    plantClaim(dir, deadClaimant, "left");
    expect(texts(box, undefined, false)).toEqual(["0"]);
    expect(texts(box)).toEqual(["left"]);
    expect(texts(openMailbox(dir))).toEqual([]);
  });

  test("leaves alone what a live process, another namespace or a stranger holds", async () => {
    const { dir, box } = await boxWith(0);
    const self = claimantOf(selfIdentity()).split("-");
    for (const claimant of [
      self.join("-"),
      self.slice(0, 2).join("-"),
      [self[0], "1", self[2], "pid1"].join("-"),
      "someone",
      `${self[0]}`,
      "99999999999-1",
    ])
      plantClaim(dir, claimant, claimant);
    expect(texts(box)).toEqual([]);
    expect(box.counts().cur).toBe(6);
  });

  test("knows an earlier boot and a recycled pid as gone", async () => {
    const [pid, start, , namespace] = claimantOf(selfIdentity()).split("-");
    const self = selfIdentity();
    expect(claimantLiveness([pid, start, "0000", namespace].join("-"), self)).toBe("gone");
    expect(claimantLiveness(`${pid}-1`, self)).toBe("gone");
    expect(claimantLiveness(`${pid}-${start}`, self)).toBe("alive");
  });

  test("drops what was seen meanwhile", async () => {
    const { dir, box } = await boxWith(0);
    const message = plantClaim(dir, deadClaimant, "left");
    plant(dir, "done", `${message.id}.json`, encodeMessage(message));
    expect(texts(box)).toEqual([]);
    expect(box.counts()).toMatchObject({ cur: 0, done: 1 });
  });
});

describe("what is not mail", () => {
  test("goes to bad/ with a reason, whatever it is, and stops nothing", async () => {
    const { dir, box } = await boxWith(1);
    const id = (n: number) => `00000000-bad-${n}`;
    const file = (n: number) => path.join(dir, "new", `${id(n)}.json`);
    plant(dir, "new", `${id(1)}.json`, "{");
    plant(dir, "new", `${id(2)}.json`, JSON.stringify(letter()));
    execFileSync("mkfifo", [file(3)]);
    fs.symlinkSync("/etc/passwd", file(4));
    fs.symlinkSync(`${id(5)}.json`, file(5));
    fs.mkdirSync(path.join(file(6), "full"), { recursive: true });
    plant(dir, "new", `${id(7)}.json`, "");
    fs.truncateSync(file(7), 8 * 1024 ** 3);
    plant(dir, "new", "not a name\u001b[31m", "x");
    plant(dir, "new", `${"long-".repeat(49)}.json`, "x");
    fs.writeFileSync(
      Buffer.concat([Buffer.from(`${path.join(dir, "new")}/`), Buffer.from([0xff, 0xfe])]),
      "x",
    );
    plant(dir, "new", ".lock-ignored", "");
    const { messages, problems } = box.claim();
    expect(messages.map(({ text }) => text)).toEqual(["0"]);
    expect(problems).toHaveLength(10);
    expect(problems.every(({ type }) => type === "bad")).toBe(true);
    expect(problems.find((problem) => problem.file.includes("bad-3"))?.reason).toBe("not a regular file");
    expect(problems.find((problem) => problem.file.includes("bad-4"))?.reason).toBe("a symbolic link");
    expect(box.counts()).toMatchObject({ new: 0, cur: 1, bad: 10 });
    expect(box.claim().problems).toEqual([]);
    expect(fs.readFileSync("/etc/passwd", "utf8")).toContain("root");
    const reasons = names(dir, "bad").filter((name) => name.endsWith(".reason"));
    expect(reasons).toHaveLength(10);
    for (const reason of reasons)
      expect(fs.readFileSync(path.join(dir, "bad", reason), "utf8")).toMatch(/^[^\u0000-\u0009\u001b]+\n$/);
    expect(receiptOf(dir, id(1))).toBe("bad");
  });

  test("does not overwrite what is in bad/ already", async () => {
    const { dir, box } = await boxWith(0);
    for (let n = 0; n < 3; n++) {
      plant(dir, "new", "00000000-bad.json", String(n));
      plant(dir, "new", "stray", String(n));
      expect(box.claim().problems).toHaveLength(2);
    }
    expect(box.counts().bad).toBe(6);
  });

  test("of a newer version stays, is told once, and stops nothing", async () => {
    const { dir, box } = await boxWith(1);
    plant(dir, "new", "00000000-newer.json", '{"v":2}');
    expect(box.claim(1)).toMatchObject({ messages: [{ text: "0" }], problems: [{ type: "newer" }] });
    expect(box.claim()).toMatchObject({ messages: [], problems: [] });
    expect(names(dir, "new")).toEqual(["00000000-newer.json"]);
  });

  test("what cannot be read now stays until it can be", async () => {
    const { dir, box } = await boxWith(2);
    const file = path.join(dir, "new", names(dir, "new")[0]!);
    const blocked = asUnprivileged(dir, () => {
      fs.chmodSync(file, 0);
      return box.claim();
    });
    expect(blocked).toMatchObject({ messages: [{ text: "1" }], problems: [{ type: "unreadable" }] });
    fs.chmodSync(file, 0o600);
    expect(texts(box)).toEqual(["0"]);
  });

  test("any bytes under any name never stop the mail behind them", async () => {
    const { dir, box } = await boxWith(0);
    const name = fc.oneof(
      fc.string({ unit: "binary", minLength: 1, maxLength: 40 }),
      fc.stringMatching(/^[0-9a-z]{8,12}\.json$/),
    );
    await fc.assert(
      fc.asyncProperty(name, fc.uint8Array({ maxLength: 60 }), async (hostile, bytes) => {
        if (/[/\0]/.test(hostile) || hostile.startsWith(".")) return;
        plant(dir, "new", hostile, bytes);
        const message = letter();
        await box.send(message);
        const { messages, problems } = box.claim();
        expect(messages).toEqual([message]);
        expect(problems).toHaveLength(1);
        box.acknowledge([message.id]);
        expect(names(dir, "new").filter((left) => !left.startsWith("."))).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});

describe("looking without claiming", () => {
  test("shows what was not seen, or what is asked for, and changes nothing", async () => {
    const { dir, box, ids } = await boxWith(3);
    box.claim(2);
    box.acknowledge([ids[0]!]);
    plant(dir, "new", "00000000-bad.json", "{");
    const before = box.counts();
    const { messages, problems } = box.peek();
    expect(messages.map(({ message, room }) => [message.text, room])).toEqual([
      ["1", "cur"],
      ["2", "new"],
    ]);
    expect(problems).toMatchObject([{ type: "bad", file: "00000000-bad.json" }]);
    expect(box.peek(["done"]).messages.map(({ message }) => message.text)).toEqual(["0"]);
    expect(box.counts()).toEqual(before);
    expect([box.has(ids[0]!), box.has(letter().id)]).toEqual([true, false]);
  });
});

/** Runs `work` as a user that permissions apply to, and who owns the mailbox. */
function asUnprivileged<T>(dir: string, work: () => T): T {
  if (process.getuid?.() !== 0) return work();
  const nobody = 65534;
  execFileSync("chown", ["-R", String(nobody), path.dirname(path.dirname(dir))]);
  process.seteuid?.(nobody);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
  }
}
