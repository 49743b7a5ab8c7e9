import net from "node:net";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Message, parseMessage } from "../../mailbox/index.js";
import { converse, createByteBudget } from "../../src/team/uds-converse.js";
import { temporaryDirectory } from "../helpers/temp.js";
import { until } from "../helpers/until.js";
import { letter } from "../mailbox/support.js";
import { talk } from "./uds-client.js";

describe("converse", () => {
  it("stores each good line once, in order, and answers every line, however the bytes arrive", async () => {
    const stored: Message[] = [];
    const socket = path.join(temporaryDirectory(), "s");
    const server = net.createServer({ allowHalfOpen: true }, (stream) =>
      converse(
        stream,
        async (message) => {
          stored.push(message);
          return { id: message.id, duplicate: false };
        },
        20_000,
        createByteBudget(1024 * 1024),
      ),
    );
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    onTestFinished(() => void server.close());
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyLine, { maxLength: 8 }),
        fc.infiniteStream(fc.nat({ max: 300 })),
        async (lines, sizes) => {
          stored.length = 0;
          const answers = await exchange(
            socket,
            Buffer.concat(lines.map((line) => Buffer.concat([line, Buffer.from("\n")]))),
            sizes,
          );
          const good = lines
            .map((line) => parseMessage(line))
            .map((parsed) => (parsed.type === "message" ? parsed.message : undefined));
          expect(stored).toEqual(good.filter((message) => message !== undefined));
          expect(answers.map(({ ok, id }) => (ok ? id : undefined))).toEqual(
            good.map((message) => message?.id),
          );
        },
      ),
      { numRuns: 60 },
    );
  });
});

it("holds no more of all clients' lines than they may have together, and gives back what was answered", async () => {
  const socket = path.join(temporaryDirectory(), "s");
  const budget = createByteBudget(300_000);
  let storing = 0;
  let store: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    store = resolve;
  });
  const server = net.createServer({ allowHalfOpen: true }, (stream) =>
    converse(
      stream,
      async ({ id }) => {
        storing++;
        await gate;
        return { id, duplicate: false };
      },
      60_000,
      budget,
    ),
  );
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  onTestFinished(() => void server.close());
  const line = `${JSON.stringify(letter({ text: "x".repeat(200_000) }))}\n`;
  const first = talk(socket, line, { lines: 1 });
  await until(() => storing === 1, "the first is being stored");
  expect(await talk(socket, line)).toMatchObject([{ ok: false, error: expect.stringContaining("together") }]);
  store();
  expect(await first).toMatchObject([{ ok: true }]);
  expect(await talk(socket, line, { lines: 1 })).toMatchObject([{ ok: true }]);
  expect(await talk(socket, "x".repeat(200_000), { end: true })).toMatchObject([{ ok: false }]);
  await until(() => budget.take(300_000), "all is given back");
});

it("reads no more from a client than it can store", async () => {
  const socket = path.join(temporaryDirectory(), "s");
  const accepted = new Promise<net.Socket>((resolve) => {
    const server = net.createServer({ allowHalfOpen: true }, (stream) => {
      // Storing never ends.
      converse(stream, () => new Promise(() => undefined), 20_000, createByteBudget(1024 * 1024));
      resolve(stream);
    });
    server.listen(socket);
    onTestFinished(() => void server.close());
  });
  const client = net.connect(socket).on("error", () => undefined);
  client.write(`${JSON.stringify(letter())}\n`.repeat(100_000));
  const stream = await accepted;
  onTestFinished(() => void stream.destroy());
  for (let turn = 0; turn < 2000; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(stream.bytesRead).toBeGreaterThan(0);
  expect(stream.bytesRead).toBeLessThan(1024 * 1024);
});

const anyLine = fc
  .oneof(
    fc.string({ unit: "grapheme", maxLength: 500 }).map((text) => JSON.stringify(letter({ text }))),
    fc.string({ maxLength: 40 }),
    fc.json(),
  )
  .map((text) => Buffer.from(text.replaceAll("\n", " ")));

/** Writes in pieces of the given sizes, then half-closes, and gives the answers. */
async function exchange(
  socket: string,
  bytes: Buffer,
  sizes: Iterable<number>,
): Promise<{ ok: boolean; id?: string }[]> {
  const stream = net.connect({ path: socket, allowHalfOpen: true });
  let got = "";
  stream.setEncoding("utf8").on("data", (chunk) => {
    got += chunk;
  });
  const closed = new Promise<void>((resolve, reject) => {
    stream.on("end", resolve);
    stream.on("error", reject);
  });
  let at = 0;
  for (const size of sizes) {
    if (at >= bytes.length) break;
    stream.write(bytes.subarray(at, at + size + 1));
    at += size + 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
  stream.end();
  await closed;
  stream.destroy();
  return got
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}
