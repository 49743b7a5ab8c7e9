// writer.mjs MAILBOX NAME COUNT: sends COUNT messages that are numbered from 0, many at a time, and waits for every 50th.
import { newMessageId, openMailbox } from "../../../mailbox/index.js";

const [dir = "", from = "", count = "0"] = process.argv.slice(2);
const mailbox = openMailbox(dir);
let pending: Promise<unknown>[] = [];
for (let n = 0; n < Number(count); n++) {
  pending.push(
    mailbox.send({
      v: 1,
      id: newMessageId(),
      from,
      to: "reader",
      sentAt: new Date().toISOString(),
      kind: "text",
      text: String(n),
    }),
  );
  if (n % 50 !== 49) continue;
  await Promise.all(pending);
  pending = [];
}
await Promise.all(pending);
