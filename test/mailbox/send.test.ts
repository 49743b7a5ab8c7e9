import fs from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createMailbox, openMailbox } from "../../mailbox/index.js";
import { storeMessageSync } from "../../mailbox/send.js";
import { createSender } from "../../mailbox/sender.js";
import { temporaryDirectory } from "../helpers/temp.js";
import { letter, names, plant, scratchMailbox } from "./support.js";

const refuse = (code: string) => () => {
  throw Object.assign(new Error(code), { code });
};

describe("sending", () => {
  test("says what is stored, but may not outlive a loss of power, as not reached", async () => {
    const dir = await scratchMailbox();
    const message = letter();
    const sync = fs.fsyncSync;
    const syncing = vi.spyOn(fs, "fsyncSync").mockImplementation((fd) => {
      if (fs.fstatSync(fd).isDirectory()) refuse("EIO")();
      sync(fd);
    });
    onTestFinished(() => syncing.mockRestore());
    expect(() => storeMessageSync(dir, message)).toThrow(
      expect.objectContaining({ code: "maybe-stored", kind: "not-reached" }),
    );
    syncing.mockRestore();
    expect(storeMessageSync(dir, message).duplicate).toBe(true);
  });

  test("stores one private file under the message's id and leaves no draft", async () => {
    const dir = await scratchMailbox();
    const message = letter();
    expect(await openMailbox(dir).send(message)).toEqual({ id: message.id, duplicate: false });
    expect(names(dir, "new")).toEqual([`${message.id}.json`]);
    expect(names(dir, "tmp")).toEqual([]);
    const file = path.join(dir, "new", `${message.id}.json`);
    expect(JSON.parse(fs.readFileSync(file, "utf8"))).toEqual(message);
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    expect(fs.statSync(path.join(dir, "new")).mode & 0o777).toBe(0o700);
  });

  test("makes messages visible in the order of the calls, awaited or not", async () => {
    const dir = await scratchMailbox();
    const order: string[] = [];
    const link = (from: string, to: string) => {
      fs.linkSync(from, to);
      order.push(path.basename(to, ".json"));
    };
    const sender = createSender(dir, { link });
    const messages = Array.from({ length: 120 }, (_, n) =>
      letter({ text: "x".repeat(n % 7 === 0 ? 200_000 : 10) }),
    );
    await Promise.all(messages.map((message) => sender.send(message)));
    expect(order).toEqual(messages.map(({ id }) => id));
  });

  test("goes on after a message that could not be sent", async () => {
    const dir = await scratchMailbox();
    const box = openMailbox(dir);
    const good = [letter(), letter()];
    const results = await Promise.allSettled([
      box.send(good[0]!),
      box.send(letter({ id: "x" })),
      box.send(good[1]!),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(box.counts()).toMatchObject({ new: 2, tmp: 0 });
  });

  test("never creates a mailbox", async () => {
    const dir = path.join(temporaryDirectory(), "mail", "reviwer");
    const gone = expect.objectContaining({ code: "no-mailbox", kind: "not-found" });
    expect(() => openMailbox(dir)).toThrow(gone);
    expect(() => storeMessageSync(dir, letter())).toThrow(gone);
    expect(fs.existsSync(dir)).toBe(false);
    await createMailbox(dir);
    const box = openMailbox(dir);
    fs.rmSync(dir, { recursive: true });
    await expect(box.send(letter())).rejects.toMatchObject({ code: "no-mailbox" });
    expect(fs.existsSync(dir)).toBe(false);
  });

  test("refuses a mailbox of another protocol, and one whose description is rubbish", async () => {
    const dir = await scratchMailbox();
    for (const text of ['{"v":1,"protocol":2}', "rubbish", "null"]) {
      fs.writeFileSync(path.join(dir, "mailbox.json"), text);
      expect(() => storeMessageSync(dir, letter())).toThrow(
        expect.objectContaining({ code: "mailbox-version" }),
      );
    }
    expect(names(dir, "new")).toEqual([]);
  });

  test("creating a mailbox again changes nothing", async () => {
    const dir = await scratchMailbox();
    await openMailbox(dir).send(letter());
    await createMailbox(dir);
    expect(openMailbox(dir).counts().new).toBe(1);
  });
});

describe.each([
  ["with links", {}],
  ["where links are refused", { link: refuse("EPERM") }],
])("the same id again, %s", (_, options) => {
  test("is a duplicate wherever the first one is, and leaves one", async () => {
    const dir = await scratchMailbox();
    const box = openMailbox(dir);
    const message = letter();
    const again = { ...message, sentAt: new Date(0).toISOString(), seal: "another" };
    const repeat = async () => [
      await createSender(dir, options).send(message),
      storeMessageSync(dir, again, options),
    ];
    expect(storeMessageSync(dir, message, options).duplicate).toBe(false);
    const stored = { id: message.id, duplicate: true };
    expect(await repeat()).toEqual([stored, stored]);
    box.claim();
    expect(await repeat()).toEqual([stored, stored]);
    box.acknowledge([message.id]);
    expect(await repeat()).toEqual([stored, stored]);
    expect(box.counts()).toEqual({ tmp: 0, new: 0, cur: 0, done: 1, bad: 0 });
  });

  test("for another message is refused and changes nothing", async () => {
    const dir = await scratchMailbox();
    const message = letter();
    storeMessageSync(dir, message, options);
    const taken = expect.objectContaining({ code: "id-taken" });
    expect(() => storeMessageSync(dir, { ...message, text: "other" }, options)).toThrow(taken);
    await expect(createSender(dir, options).send({ ...message, to: "other" })).rejects.toThrow(taken);
    expect(
      openMailbox(dir)
        .peek()
        .messages.map((found) => found.message),
    ).toEqual([message]);
    expect(names(dir, "tmp")).toEqual([]);
  });

  test("stored eight times at once is stored once", async () => {
    const dir = await scratchMailbox();
    const message = letter();
    const all = await Promise.all(Array.from({ length: 8 }, () => createSender(dir, options).send(message)));
    expect(all.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    expect(fs.readdirSync(path.join(dir, "new"))).toEqual([`${message.id}.json`]);
  });

  test("on an id that holds a number beyond JSON's range is refused", async () => {
    const dir = await scratchMailbox();
    const message = letter({ more: 1 });
    const foreign = JSON.stringify(message).replace('"more":1', '"more":1e999');
    plant(dir, "new", `${message.id}.json`, foreign);
    const taken = expect.objectContaining({ code: "id-taken" });
    expect(() => storeMessageSync(dir, message, options)).toThrow(taken);
  });

  test("on a name that is no file is refused", async () => {
    const dir = await scratchMailbox();
    const message = letter();
    fs.mkdirSync(path.join(dir, "new", `${message.id}.json`));
    expect(() => storeMessageSync(dir, message, options)).toThrow(
      expect.objectContaining({ code: "id-taken" }),
    );
  });
});

describe("where links are refused", () => {
  test.each(["EPERM", "ENOTSUP", "EOPNOTSUPP", "EMLINK", "EXDEV", "ENOSYS"])(
    "%s: stores by renaming",
    async (code) => {
      const dir = await scratchMailbox();
      const message = letter();
      expect(await createSender(dir, { link: refuse(code) }).send(message)).toMatchObject({
        duplicate: false,
      });
      expect(fs.readdirSync(path.join(dir, "new"))).toEqual([`${message.id}.json`]);
      expect(names(dir, "tmp")).toEqual([]);
    },
  );

  test("waits for a lock no longer than a dead sender is worth", async () => {
    const dir = await scratchMailbox();
    const [async_, sync] = [letter(), letter()];
    for (const { id } of [async_, sync]) plant(dir, "new", `.lock-${id}`, "");
    const options = { link: refuse("EPERM") };
    await createSender(dir, options).send(async_);
    storeMessageSync(dir, sync, options);
    expect(fs.readdirSync(path.join(dir, "new")).sort()).toEqual([`${async_.id}.json`, `${sync.id}.json`]);
  });

  test("never overwrites what another sender stored at the last moment", async () => {
    const dir = await scratchMailbox();
    const message = letter();
    const link = (_from: string, to: string) => {
      fs.writeFileSync(to, `${JSON.stringify(message)} `);
      return refuse("EPERM")();
    };
    expect(storeMessageSync(dir, message, { link })).toEqual({ id: message.id, duplicate: true });
    expect(fs.readFileSync(path.join(dir, "new", `${message.id}.json`), "utf8")).toMatch(/ $/);
  });

  test("any other failure is the sender's to hear, with what to do", async () => {
    const dir = await scratchMailbox();
    const sender = createSender(dir, { link: refuse("ENOSPC") });
    await expect(sender.send(letter())).rejects.toMatchObject({ code: "not-stored", remedy: /make room/ });
    expect(openMailbox(dir).counts()).toMatchObject({ tmp: 0, new: 0 });
  });
});
