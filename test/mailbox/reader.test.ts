import fs from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  type Mailbox,
  type MailboxReader,
  type Message,
  openMailbox,
  type ReaderHandlers,
  readMailbox,
  watchMailbox,
} from "../../mailbox/index.js";
import { encodeMessage } from "../../mailbox/message.js";
import { kill, start } from "./children.js";
import { deadClaimant, eventually, letter, plant, scratchMailbox } from "./support.js";

const readers: MailboxReader[] = [];

afterEach(async () => {
  for (const reader of readers.splice(0)) {
    reader.close();
    await reader.closed.catch(() => undefined);
  }
});

function read(
  dir: string,
  handlers: ReaderHandlers,
  options: { readonly sweepMs?: number } = {},
  signal?: AbortSignal,
): MailboxReader {
  const reader = readMailbox(openMailbox(dir), handlers, options, signal);
  readers.push(reader);
  return reader;
}

describe("a reader", () => {
  test("hands over what is there and what comes, in order", async () => {
    const dir = await scratchMailbox();
    const box = openMailbox(dir);
    const got: unknown[] = [];
    await box.send(letter({ text: "0" }));
    read(dir, { onMessage: ({ text }) => void got.push(text) });
    expect(got).toEqual([]);
    await eventually(() => got).toEqual(["0"]);
    for (let n = 1; n <= 20; n++) await box.send(letter({ text: String(n) }));
    await eventually(() => got).toEqual(Array.from({ length: 21 }, (_, n) => String(n)));
  });

  test("loses no bell however mail falls between one look and the next", async () => {
    const dir = await scratchMailbox();
    const box = openMailbox(dir);
    let got = 0;
    let next: (() => void) | undefined;
    const handlers = {
      async onMessage({ id }: Message) {
        await null;
        box.acknowledge([id]);
        got++;
        next?.();
      },
    };
    read(dir, handlers, { sweepMs: 3_600_000 });
    for (let n = 1; n <= 150; n++) {
      const handled = new Promise<void>((resolve) => {
        next = resolve;
      });
      await Promise.all([box.send(letter()), handled]);
      expect(got).toBe(n);
    }
  });

  test("loses no bell that rings while a handler is at work", async () => {
    const dir = await scratchMailbox();
    const box = openMailbox(dir);
    const got: unknown[] = [];
    const handlers = {
      async onMessage({ text }: Message) {
        got.push(text);
        if (text === "second") return;
        let bells = 0;
        const witness = watchMailbox(dir, () => {
          bells++;
        });
        await eventually(() => bells).toBeGreaterThan(0);
        const before = bells;
        await box.send(letter({ text: "second" }));
        await eventually(() => bells).toBeGreaterThan(before);
        await witness.close();
      },
    };
    read(dir, handlers, { sweepMs: 3_600_000 });
    await box.send(letter({ text: "first" }));
    await eventually(() => got).toEqual(["first", "second"]);
  });

  test("deals with one message at a time, and looks at once when asked", async () => {
    const dir = await scratchMailbox();
    const box = openMailbox(dir);
    const order: string[] = [];
    let open: (() => void) | undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    for (const text of ["a", "b"]) await box.send(letter({ text }));
    const reader = read(dir, {
      async onMessage({ text }) {
        order.push(`${text} in`);
        await gate;
        order.push(`${text} out`);
      },
    });
    reader.drain();
    expect(order).toEqual(["a in"]);
    open?.();
    await eventually(() => order).toEqual(["a in", "a out", "b in", "b out"]);
  });

  test("works off more than one claim's worth", async () => {
    const dir = await scratchMailbox();
    for (let n = 0; n < 600; n++) {
      const message = letter({ text: String(n) });
      plant(dir, "new", `${message.id}.json`, encodeMessage(message));
    }
    const got: unknown[] = [];
    read(dir, { onMessage: ({ text }) => void got.push(text) }, { sweepMs: 3_600_000 });
    await eventually(() => got.length).toBe(600);
    expect(got).toEqual(Array.from({ length: 600 }, (_, n) => String(n)));
  });

  test("takes over and tidies up with the sweep", async () => {
    const dir = await scratchMailbox();
    const got: unknown[] = [];
    read(dir, { onMessage: ({ text }) => void got.push(text) }, { sweepMs: 30 });
    const box = openMailbox(dir);
    await box.send(letter({ text: "first" }));
    await eventually(() => got).toEqual(["first"]);
    // As another reader claims it, and ends.
    const left = letter({ text: "left" });
    plant(dir, "tmp", "left", encodeMessage(left));
    fs.renameSync(path.join(dir, "tmp", "left"), path.join(dir, "new", ".left"));
    fs.renameSync(path.join(dir, "new", ".left"), path.join(dir, "cur", `${left.id}~${deadClaimant}.json`));
    await eventually(() => got).toEqual(["first", "left"]);
  });

  test("lists nothing with a sweep while nothing has changed and nobody holds mail", async () => {
    const dir = await scratchMailbox();
    for (const room of ["new", "cur"]) fs.utimesSync(path.join(dir, room), new Date(), new Date(0));
    const got: unknown[] = [];
    const [listed, looked] = [vi.spyOn(fs, "readdirSync"), vi.spyOn(fs, "statSync")];
    onTestFinished(() => {
      listed.mockRestore();
      looked.mockRestore();
    });
    const box = openMailbox(dir);
    const onMessage = ({ id, text }: Message) => {
      got.push(text);
      box.acknowledge([id]);
    };
    read(dir, { onMessage }, { sweepMs: 5 });
    const sweeps = async (count: number) => {
      const before = looked.mock.calls.length;
      await eventually(() => looked.mock.calls.length).toBeGreaterThan(before + count);
    };
    await sweeps(5);
    listed.mockClear();
    await sweeps(20);
    expect(listed).not.toHaveBeenCalled();
    await box.send(letter({ text: "news" }));
    await eventually(() => got).toEqual(["news"]);
  });

  test("keeps looking at what another reader holds, and takes it over when that one ends", async () => {
    const dir = await scratchMailbox();
    const holder = start("reader", dir, "hold");
    await openMailbox(dir).send(letter({ text: "held" }));
    await eventually(() => holder.lines).toEqual(["writer held"]);
    for (const room of ["new", "cur"]) fs.utimesSync(path.join(dir, room), new Date(), new Date(0));
    const got: unknown[] = [];
    const looked = vi.spyOn(fs, "statSync");
    onTestFinished(() => looked.mockRestore());
    read(dir, { onMessage: ({ text }) => void got.push(text) }, { sweepMs: 5 });
    await eventually(() => looked.mock.calls.length).toBeGreaterThan(10);
    expect(got).toEqual([]);
    await kill(holder.child);
    await eventually(() => got).toEqual(["held"]);
  });

  test.runIf(process.platform === "linux")("takes what its bell names without listing first", async () => {
    const dir = await scratchMailbox();
    const box = openMailbox(dir);
    const looks: string[] = [];
    const watched: Mailbox = {
      ...box,
      claim: (...args) => {
        looks.push("all");
        return box.claim(...args);
      },
      claimNamed: (file) => {
        looks.push(file);
        return box.claimNamed(file);
      },
    };
    const got: unknown[] = [];
    const reader = readMailbox(watched, { onMessage: ({ id }) => void got.push(id) });
    readers.push(reader);
    await eventually(() => looks).toEqual(["all", "all"]); // to begin with, and as the watch is in force
    looks.length = 0;
    const message = letter();
    await box.send(message);
    await eventually(() => got).toEqual([message.id]);
    expect(looks[0]).toBe(`${message.id}.json`);
  });

  test.each([
    ["read", (file: string, id: string) => file.endsWith(`new/${id}.json`)],
    ["read or listed", (file: string, id: string) => file.endsWith(`new/${id}.json`) || file.endsWith("new")],
  ])("keeps the order when mail that could not be %s is followed by more", async (_, isHit) => {
    const dir = await scratchMailbox();
    const box = openMailbox(dir);
    let failing = "";
    const failAt = <T extends "openSync" | "readdirSync">(call: T) => {
      const real = fs[call] as (file: string, ...rest: unknown[]) => unknown;
      const spy = vi.spyOn(fs, call).mockImplementation(((file: string, ...rest: unknown[]) => {
        if (failing === "" || !isHit(file, failing)) return real(file, ...rest);
        throw Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });
      }) as never);
      onTestFinished(() => spy.mockRestore());
    };
    failAt("openSync");
    failAt("readdirSync");
    const got: unknown[] = [];
    let told = 0;
    const tell = () => void told++;
    const onMessage = ({ text }: Message) => void got.push(text);
    read(dir, { onMessage, onProblem: tell, onTrouble: tell }, { sweepMs: 3_600_000 });
    await box.send(letter({ text: "0" }));
    await eventually(() => got).toEqual(["0"]);
    const unread = letter({ text: "1" });
    plant(dir, "tmp", "unread", encodeMessage(unread));
    failing = unread.id;
    fs.renameSync(path.join(dir, "tmp/unread"), path.join(dir, `new/${unread.id}.json`));
    await eventually(() => told).toBeGreaterThan(0);
    failing = "";
    await box.send(letter({ text: "2" }));
    await eventually(() => got).toEqual(["0", "1", "2"]);
  });

  test("tells of trouble once, and again when mail has come in between", async () => {
    const dir = await scratchMailbox();
    const box = openMailbox(dir);
    const got: unknown[] = [];
    const told: string[] = [];
    const onMessage = ({ text }: Message) => void got.push(text);
    const reader = read(
      dir,
      { onMessage, onTrouble: ({ code }) => void told.push(code) },
      { sweepMs: 3_600_000 },
    );
    for (let round = 1; round <= 2; round++) {
      fs.renameSync(path.join(dir, "cur"), path.join(dir, "away"));
      fs.renameSync(path.join(dir, "new"), path.join(dir, "gone"));
      for (let look = 0; look < 3; look++) {
        reader.drain();
        await eventually(() => told).toHaveLength(round);
      }
      fs.renameSync(path.join(dir, "gone"), path.join(dir, "new"));
      fs.renameSync(path.join(dir, "away"), path.join(dir, "cur"));
      await box.send(letter({ text: String(round) }));
      reader.drain();
      await eventually(() => got).toHaveLength(round);
    }
    expect(told).toEqual(["no-mailbox", "no-mailbox"]);
  });

  test("tries again with the sweep what could not be read, and tells of it once", async () => {
    const dir = await scratchMailbox();
    const message = letter();
    plant(dir, "new", `${message.id}.json`, encodeMessage(message));
    fs.utimesSync(path.join(dir, "new"), new Date(), new Date(0));
    const open = fs.openSync;
    let failures = 0;
    const opening = vi.spyOn(fs, "openSync").mockImplementation(((file: fs.PathLike, ...rest: [number]) => {
      if (!String(file).includes(message.id) || ++failures > 3) return open(file, ...rest);
      throw Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });
    }) as never);
    onTestFinished(() => opening.mockRestore());
    const got: unknown[] = [];
    const told: string[] = [];
    read(
      dir,
      { onMessage: ({ id }) => void got.push(id), onProblem: ({ reason }) => void told.push(reason) },
      { sweepMs: 10 },
    );
    await eventually(() => got).toEqual([message.id]);
    expect(told).toEqual([expect.stringContaining("EMFILE")]);
  });

  test("tells of what is no mail, and once of a mailbox that is gone", async () => {
    const dir = await scratchMailbox();
    const told: string[] = [];
    plant(dir, "new", "00000000-bad.json", "{");
    plant(dir, "new", "00000000-new.json", '{"v":9}');
    read(
      dir,
      {
        onMessage: () => undefined,
        onProblem: ({ type, file }) => void told.push(`${type} ${file}`),
        onTrouble: ({ code }) => void told.push(code),
      },
      { sweepMs: 20 },
    );
    await eventually(() => told).toEqual(["bad 00000000-bad.json", "newer 00000000-new.json"]);
    fs.rmSync(dir, { recursive: true });
    await eventually(() => told.slice(2).sort()).toEqual(["mailbox-replaced", "no-mailbox"]);
  });
});

describe("the end of a reader", () => {
  test("puts back what was claimed and not handed over, and waits for the handler at work", async () => {
    const dir = await scratchMailbox();
    const box = openMailbox(dir);
    for (const text of ["a", "b", "c"]) await box.send(letter({ text }));
    const ending = new AbortController();
    let finished = false;
    const reader = read(
      dir,
      {
        async onMessage({ id }) {
          ending.abort();
          await new Promise((resolve) => setImmediate(resolve));
          box.acknowledge([id]);
          finished = true;
        },
      },
      {},
      ending.signal,
    );
    await reader.closed;
    expect(finished).toBe(true);
    expect(box.counts()).toMatchObject({ new: 2, cur: 0, done: 1 });
    reader.drain();
    expect(box.counts()).toMatchObject({ new: 2 });
  });

  test("comes with the error of its handler, whose message is put back too", async () => {
    const dir = await scratchMailbox();
    const box = openMailbox(dir);
    for (const text of ["a", "b"]) await box.send(letter({ text }));
    const reader = read(dir, {
      onMessage() {
        throw new Error("no stomach for it");
      },
    });
    await expect(reader.closed).rejects.toThrow("no stomach for it");
    expect(box.counts()).toMatchObject({ new: 2, cur: 0 });
  });

  test("is at once where the signal was aborted before", async () => {
    const dir = await scratchMailbox();
    const box = openMailbox(dir);
    await box.send(letter());
    await read(dir, { onMessage: () => undefined }, {}, AbortSignal.abort()).closed;
    expect(box.counts()).toMatchObject({ new: 1 });
  });
});
