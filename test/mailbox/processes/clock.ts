// clock.mjs MAILBOX LOCKED_ID: does what a mailbox is for while the clock goes back by an hour in the midst of it; prints what came of it.
import fs from "node:fs";
import {
  type Message,
  newMessageId,
  openMailbox,
  pruneMailbox,
  waitForReceipt,
} from "../../../mailbox/index.js";
import { storeMessageSync } from "../../../mailbox/send.js";

const [dir = "", lockedId = ""] = process.argv.slice(2);
const real = Date.now;
let behindMs = 0;
Date.now = () => real() - behindMs;
const stepBack = () => {
  behindMs += 3_600_000;
};
const letter = (text: string, id = newMessageId()): Message => ({
  v: 1,
  id,
  from: "writer",
  to: "reader",
  sentAt: new Date(Date.now()).toISOString(),
  kind: "text",
  text,
});

const box = openMailbox(dir);
const sending: Promise<unknown>[] = [];
for (let n = 0; n < 100; n++) {
  if (n === 50) stepBack();
  sending.push(box.send(letter(String(n))));
}
await Promise.all(sending);
const order = box.claim().messages.map(({ text }) => Number(text));
const [first = "", ...rest] = box.peek(["cur"]).messages.map(({ message }) => message.id);
box.acknowledge(rest);

setTimeout(stepBack, 20);
const receipts = [
  await waitForReceipt(dir, newMessageId(), "seen", 200),
  await waitForReceipt(dir, first, "seen", 0),
  await waitForReceipt(dir, rest[0] ?? "", "seen", 0),
];

// A sender was killed while it held the lock, when the clock was ahead.
const refused = () => {
  throw Object.assign(new Error("EPERM"), { code: "EPERM" });
};
const locked = storeMessageSync(dir, letter("behind a lock", lockedId), { link: refused });

await pruneMailbox(dir);
fs.writeSync(1, `${JSON.stringify({ order, receipts, locked, counts: box.counts() })}\n`);
