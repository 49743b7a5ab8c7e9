import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Message, newMessageId, openMailbox } from "../../mailbox/index.js";
import { type ListenOptions, listenForMail, type MailListener } from "../../src/team/uds-listen.js";
import { sendToSocket } from "../../src/team/uds-send.js";
import { temporaryDirectory } from "../helpers/temp.js";
import { letter, scratchMailbox } from "../mailbox/support.js";
import { talk } from "./uds-client.js";

async function listening(options: ListenOptions & { readonly socket?: string } = {}) {
  const { socket = path.join(temporaryDirectory(), "mail.sock"), ...rest } = options;
  const dir = await scratchMailbox();
  const mailbox = openMailbox(dir);
  const locks = `${path.dirname(socket)}.locks`;
  onTestFinished(() => fs.rmSync(locks, { recursive: true, force: true }));
  const listener: MailListener = await listenForMail({ socket, locks }, mailbox.send, rest);
  onTestFinished(() => listener.close());
  const texts = () =>
    mailbox
      .peek()
      .messages.map(({ message }) => message.text)
      .sort();
  return { socket, dir, listener, texts };
}

const line = (message: Message | string) =>
  `${typeof message === "string" ? message : JSON.stringify(message)}\n`;

describe("a listener", () => {
  it("stores what comes and then answers, and nobody else may connect", async () => {
    const { socket, texts } = await listening();
    expect(fs.statSync(socket).mode & 0o777).toBe(0o600);
    expect(fs.readdirSync(path.dirname(socket))).toEqual(["mail.sock"]);
    const message = letter({ text: "one" });
    expect(await sendToSocket(socket, message, 20_000)).toEqual({ duplicate: false });
    expect(await sendToSocket(socket, message, 20_000)).toEqual({ duplicate: true });
    expect(texts()).toEqual(["one"]);
  });

  it("keeps every field, seals among them", async () => {
    const { socket, dir } = await listening();
    const message = letter({ seal: "x", more: { deep: [1, "ü\ud83d\ude00", null] }, ["__proto__"]: 1 });
    await sendToSocket(socket, message, 20_000);
    expect(openMailbox(dir).peek().messages[0]?.message).toEqual(JSON.parse(JSON.stringify(message)));
  });

  it("answers the lines of a client in their order, and refuses another message with the same id", async () => {
    const { socket, texts } = await listening();
    const [a, b] = [letter({ text: "a" }), letter({ text: "b" })];
    const answers = await talk(socket, line(a) + line(b) + line({ ...a, text: "c" }), { lines: 3 });
    expect(answers).toMatchObject([
      { ok: true, id: a.id },
      { ok: true, id: b.id },
      { ok: false, error: expect.stringContaining("another message") },
    ]);
    expect(texts()).toEqual(["a", "b"]);
  });

  it("serves many clients at once", async () => {
    const { socket, texts } = await listening();
    const messages = Array.from({ length: 120 }, (_, i) => letter({ text: `${i}` }));
    await Promise.all(messages.map((message) => sendToSocket(socket, message, 25_000)));
    expect(texts()).toEqual(messages.map(({ text }) => text).sort());
  });

  it.each([
    ["no JSON", "hello", "not JSON"],
    ["an empty line", "", "not JSON"],
    ["no object", "[1]", "not a JSON object"],
    ["wrong types", JSON.stringify({ ...letter(), text: 7 }), '"text" is not a text'],
    ["no id", JSON.stringify({ ...letter(), id: undefined }), '"id"'],
    ["a name with a path", JSON.stringify(letter({ id: "../../../etc" })), '"id"'],
    ["a later version", JSON.stringify({ ...letter(), v: 2 }), "version 2"],
    ["deep nesting", JSON.stringify({ ...letter(), x: 1 }).replace(":1}", `:${"[".repeat(1e6)}`), "nested"],
    ["bytes that are no text", "\u00ff\u00fe", "not JSON"],
  ])("answers %s with what is wrong, and goes on with that client", async (_, bad, error) => {
    const { socket, texts } = await listening();
    const good = letter({ text: "good" });
    const answers = await talk(socket, line(bad) + line(good), { lines: 2 });
    expect(answers).toMatchObject([
      { ok: false, error: expect.stringContaining(error) },
      { ok: true, id: good.id },
    ]);
    expect(texts()).toEqual(["good"]);
  });

  it("answers a half line at the end of a client, and takes what came before", async () => {
    const { socket, texts } = await listening();
    const answers = await talk(socket, line(letter({ text: "whole" })) + JSON.stringify(letter()), {
      end: true,
    });
    expect(answers).toMatchObject([{ ok: true }, { ok: false, error: "the line has no end" }]);
    expect(texts()).toEqual(["whole"]);
  });

  it("cuts off a client whose line is too long, or does not end, or that takes no answer", async () => {
    const patient = await listening();
    const tooLong = Buffer.alloc(20 * 1024 * 1024, "x");
    expect(await talk(patient.socket, tooLong, { lines: 1 })).toMatchObject([
      { ok: false, error: expect.stringContaining("longer than") },
    ]);
    const { socket, texts } = await listening({ patienceMs: 300 });
    expect(await talk(socket, '{"v":1,')).toEqual([]);
    expect(await talk(socket, "")).toEqual([]);
    const deaf = net.connect(socket).on("error", () => undefined);
    deaf.pause();
    const closed = new Promise((resolve) => deaf.on("close", resolve));
    deaf.write("x\n".repeat(200_000));
    await closed;
    expect(texts()).toEqual([]);
    // One that has more patience with its clients goes on.
    await sendToSocket(patient.socket, letter({ text: "alive" }), 20_000);
    expect(patient.texts()).toEqual(["alive"]);
  });

  it("answers with what went wrong with the mailbox, and takes mail again when it is mended", async () => {
    const { socket, dir, texts } = await listening();
    fs.renameSync(dir, `${dir}.away`);
    const message = letter({ text: "late" });
    await expect(sendToSocket(socket, message, 20_000)).rejects.toMatchObject({
      code: "refused",
      message: expect.stringContaining("no mailbox"),
    });
    fs.renameSync(`${dir}.away`, dir);
    await sendToSocket(socket, message, 20_000);
    expect(texts()).toEqual(["late"]);
  });
});

describe("the socket", () => {
  it("is gone at the end, and with it the clients", async () => {
    const { socket, listener } = await listening();
    const idle = net.connect(socket);
    await new Promise((resolve) => idle.on("connect", resolve));
    const closed = new Promise((resolve) => idle.on("close", resolve));
    await Promise.all([listener.close(), listener.close()]);
    await closed;
    expect(fs.readdirSync(path.dirname(socket))).toEqual([]);
  });

  it("takes the place of one at which nobody listens any more", async () => {
    const first = await listening();
    fs.linkSync(first.socket, `${first.socket}.kept`);
    await first.listener.close();
    fs.renameSync(`${first.socket}.kept`, first.socket);
    const { texts } = await listening({ socket: first.socket });
    await sendToSocket(first.socket, letter({ text: "x" }), 20_000);
    expect(texts()).toEqual(["x"]);
    expect(fs.readdirSync(path.dirname(first.socket))).toEqual(["mail.sock"]);
  });

  it("is refused where somebody listens, who is not disturbed", async () => {
    const { socket, texts } = await listening();
    await expect(listening({ socket })).rejects.toMatchObject({
      code: "socket-taken",
      message: expect.stringContaining("somebody listens there"),
    });
    await sendToSocket(socket, letter({ text: "x" }), 20_000);
    expect(texts()).toEqual(["x"]);
    expect(fs.readdirSync(path.dirname(socket))).toEqual(["mail.sock"]);
  });

  it("goes to exactly one of several that start at once, also over a dead one", async () => {
    const dead = await listening();
    fs.linkSync(dead.socket, `${dead.socket}.kept`);
    await dead.listener.close();
    fs.renameSync(`${dead.socket}.kept`, dead.socket);
    const { socket } = dead;
    const got: string[] = [];
    const tries = await Promise.allSettled(
      Array.from({ length: 8 }, (_, n) => {
        const store = async ({ id }: Message) => {
          got.push(`${n}`);
          return { id, duplicate: false };
        };
        return listenForMail({ socket, locks: `${path.dirname(socket)}.locks` }, store);
      }),
    );
    const won = tries.flatMap((one, n) => (one.status === "fulfilled" ? [{ n, listener: one.value }] : []));
    onTestFinished(async () => void (await Promise.all(won.map(({ listener }) => listener.close()))));
    await sendToSocket(socket, letter(), 20_000);
    expect(won.map(({ n }) => `${n}`)).toEqual(got);
    expect(fs.readdirSync(path.dirname(socket))).toEqual(["mail.sock"]);
  });

  it("leaves any other file alone", async () => {
    const dir = temporaryDirectory();
    const places = { file: path.join(dir, "file"), dir: path.join(dir, "dir"), link: path.join(dir, "link") };
    fs.writeFileSync(places.file, "kept");
    fs.mkdirSync(places.dir);
    fs.symlinkSync(path.join(dir, "nowhere"), places.link);
    for (const socket of Object.values(places))
      await expect(listening({ socket })).rejects.toMatchObject({ code: "socket-taken" });
    expect(fs.readFileSync(places.file, "utf8")).toBe("kept");
    expect(fs.readdirSync(dir).sort()).toEqual(["dir", "file", "link"]);
  });

  it("is not made where there is no directory, or by a path that cannot be", async () => {
    const dir = temporaryDirectory();
    await expect(listening({ socket: path.join(dir, "none/s") })).rejects.toMatchObject({
      code: "cannot-listen",
      message: expect.stringContaining("there is no directory"),
    });
    await expect(listening({ socket: path.join(dir, "x".repeat(110)) })).rejects.toMatchObject({
      code: "bad-address",
      kind: "usage",
    });
    expect(fs.readdirSync(dir)).toEqual([]);
  });

  it("that was taken away and made by another is not removed at the end", async () => {
    const { socket, listener } = await listening();
    fs.rmSync(socket);
    const other = await listening({ socket });
    await listener.close();
    await sendToSocket(socket, letter({ id: newMessageId(), text: "x" }), 20_000);
    expect(other.texts()).toEqual(["x"]);
  });
});
