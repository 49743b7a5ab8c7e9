// broadcaster.mjs ROOT COUNT: makes COUNT mailboxes, then sends to all of them at once, first a message to each and then one to
// all; prints what went wrong.
import { createMailbox, type Message, newMessageId, openRouter } from "../../../mailbox/index.js";

const [root = "", count = "0"] = process.argv.slice(2);
const router = openRouter(root);
const names = Array.from({ length: Number(count) }, (_, n) => `m${n}`);
for (const name of names) await createMailbox(router.mailboxOf(name));

const sent = await Promise.allSettled(names.map((name) => router.deliver(name, letter(name))));
const faults = sent.flatMap((result) => (result.status === "rejected" ? String(result.reason) : []));
for (const outcome of await router.broadcast(names, letter("*")))
  if (!outcome.ok) faults.push(String(outcome.error));
console.log(JSON.stringify([...new Set(faults)]));

function letter(to: string): Message {
  const sentAt = new Date().toISOString();
  return { v: 1, id: newMessageId(), from: "writer", to, sentAt, kind: "text", text: "x".repeat(10_000) };
}
