import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { sendToSocket } from "../../src/team/uds-send.js";
import { temporaryDirectory } from "../helpers/temp.js";
import { letter } from "../mailbox/support.js";

/** A server at a new socket that deals with each connection by `serve`. */
async function listener(serve: (stream: net.Socket) => void): Promise<string> {
  const socket = path.join(temporaryDirectory(), "s");
  const streams = new Set<net.Socket>();
  const server = net.createServer((stream) => {
    streams.add(stream);
    stream.on("error", () => undefined);
    serve(stream);
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  onTestFinished(() => {
    for (const stream of streams) stream.destroy();
    server.close();
  });
  return socket;
}

const answering = (answer: string) => listener((stream) => stream.on("data", () => stream.write(answer)));

const message = letter({ id: "0123abcd" });
const long = 20_000;

describe("sendToSocket", () => {
  it("sends one line, the message, and gives what is answered", async () => {
    const got: Buffer[] = [];
    const socket = await listener((stream) =>
      stream.on("data", (chunk) => {
        got.push(chunk);
        if (chunk.includes(10)) stream.write('{"ok":true,"id":"0123abcd","duplicate":true}\nmore');
      }),
    );
    expect(await sendToSocket(socket, message, long)).toEqual({ duplicate: true });
    expect(Buffer.concat(got).toString()).toBe(`${JSON.stringify(message)}\n`);
  });

  it("takes an answer in pieces, and one that comes without being waited for long", async () => {
    const socket = await listener((stream) =>
      stream.on("data", () => {
        stream.write('{"ok":true,');
        setImmediate(() => stream.write('"id":"0123abcd"}\n'));
      }),
    );
    expect(await sendToSocket(socket, message, long)).toEqual({ duplicate: false });
  });

  it("tells a refusal in one harmless line", async () => {
    const socket = await answering('{"ok":false,"error":"no \\u001b[2Jroom\\nat all"}\n');
    await expect(sendToSocket(socket, message, long)).rejects.toMatchObject({
      code: "refused",
      kind: "failed",
      message: expect.stringMatching(/refused the message: no \[2Jroom at all$/),
    });
  });

  it.each([
    ["is no JSON", "ok\n", "its answer was ok"],
    ["is no object", "null\n", "its answer was null"],
    ["is for another message", '{"ok":true,"id":"other-id"}\n', "other-id"],
    ["neither takes nor refuses", '{"ok":"yes","id":"0123abcd"}\n', "yes"],
    ["refuses without a word", '{"ok":false}\n', "false"],
    ["never ends", "x".repeat(70_000), "the answer is too long"],
  ])("never takes it for stored where the answer %s", async (_, answer, why) => {
    await expect(sendToSocket(await answering(answer), message, long)).rejects.toMatchObject({
      code: "maybe-stored",
      message: expect.stringContaining(why),
      kind: "not-reached",
      remedy: expect.stringContaining("--id 0123abcd"),
    });
  });

  it("says that it may be stored where no answer comes in time, or the connection ends before", async () => {
    const silent = await listener(() => undefined);
    const closing = await listener((stream) => stream.on("data", () => stream.end()));
    const cutting = await listener((stream) => stream.on("data", () => stream.destroy()));
    await expect(sendToSocket(silent, message, 50)).rejects.toMatchObject({ code: "maybe-stored" });
    for (const socket of [closing, cutting])
      await expect(sendToSocket(socket, message, long)).rejects.toMatchObject({ code: "maybe-stored" });
  });

  it("ends with the signal", async () => {
    const stop = new AbortController();
    const socket = await listener((stream) => stream.on("data", () => stop.abort(new Error("enough"))));
    await expect(sendToSocket(socket, message, long, stop.signal)).rejects.toThrow("enough");
  });

  it("finds nobody where there is no socket, a dead one, or another file", async () => {
    const dir = temporaryDirectory();
    const file = path.join(dir, "file");
    fs.writeFileSync(file, "kept");
    const dead = path.join(dir, "dead");
    const link = path.join(dir, "link");
    const living = await answering('{"ok":true,"id":"0123abcd"}\n');
    fs.symlinkSync(living, link);
    await leaveDeadSocket(dead);
    for (const place of [path.join(dir, "none"), path.join(file, "x"), file, dead, link])
      await expect(sendToSocket(place, message, long), place).rejects.toMatchObject({
        code: "no-listener",
        kind: "not-found",
        remedy: expect.stringContaining("--listen"),
      });
    expect(fs.readFileSync(file, "utf8")).toBe("kept");
  });

  it("sends nothing to another user's socket", async () => {
    if (process.getuid?.() !== 0) return;
    let connected = false;
    const socket = await listener(() => {
      connected = true;
    });
    fs.chownSync(socket, 12345, 12345);
    await expect(sendToSocket(socket, message, long)).rejects.toMatchObject({ code: "foreign-socket" });
    expect(connected).toBe(false);
  });
});

async function leaveDeadSocket(socket: string): Promise<void> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(`${socket}.bound`, resolve));
  fs.linkSync(`${socket}.bound`, socket);
  await new Promise<void>((resolve) => server.close(() => resolve()));
}
