// no-links.mjs MAIL_ROOT [option]: sends in every way to the mailboxes a, b and c, reads them, and prints what came of it. With
// `option` links are refused by the library's option, else by whoever started this.
import fs from "node:fs";
import path from "node:path";
import { createMailbox, type Message, openMailbox, openRouter, receiptOf } from "../../../mailbox/index.js";

const [root = "", option] = process.argv.slice(2);
const refuse = () => {
  throw Object.assign(new Error("EPERM: operation not permitted, link"), { code: "EPERM" });
};
const options = option === undefined ? {} : { link: refuse };
const letter = (id: string): Message => ({
  v: 1,
  id,
  from: "writer",
  to: "*",
  sentAt: new Date().toISOString(),
  kind: "text",
  text: id,
});

const names = ["a", "b", "c"];
for (const name of names) await createMailbox(path.join(root, name));
const [one, other] = [openRouter(root, options), openRouter(root, options)];

const inOrder = Array.from({ length: 30 }, (_, n) => one.deliver("a", letter(`00000000-${n + 10}`)));
await Promise.all(inOrder);
one.deliverSync("a", letter("00000001-sync"));
const broadcasts = [
  ...(await one.broadcast(names, letter("00000002-all"))),
  ...one.broadcastSync(names, letter("00000003-all-sync")),
];

// Two senders of one id, with the same content and with another one.
const message = letter("00000004-twice");
const twice = await Promise.all([one, other, one].map((router) => router.deliver("b", message)));
const taken = await other.deliver("b", { ...message, text: "different" }).then(
  () => "stored",
  ({ code }) => code,
);

// A sender that was killed while it held the lock.
const lock = path.join(root, "c", "new", ".lock-00000005-locked");
fs.writeFileSync(lock, "");
fs.utimesSync(lock, new Date(), new Date(Date.now() - 3000));
const afterLock = await one.deliver("c", letter("00000005-locked"));

const read = names.map((name) => {
  const box = openMailbox(path.join(root, name));
  const ids = box.claim().messages.map(({ id }) => id);
  box.acknowledge(ids);
  return { ids, receipts: [...new Set(ids.map((id) => receiptOf(box.dir, id)))], counts: box.counts() };
});
const left = [".out", ...names.flatMap((name) => [`${name}/new`, `${name}/tmp`])].flatMap((directory) =>
  fs.readdirSync(path.join(root, directory)),
);
fs.writeSync(1, `${JSON.stringify({ broadcasts, twice, taken, afterLock, read, left })}\n`);
