// writer.mjs MAILBOX NAME COUNT: sends COUNT messages that are numbered from 0, half of them without waiting.
import { newMessageId, openMailbox } from "../../../mailbox/index.js";

const [dir = "", from = "", count = "0"] = process.argv.slice(2);
const mailbox = openMailbox(dir);
const pending: Promise<unknown>[] = [];
for (let n = 0; n < Number(count); n++) {
  const sending = mailbox.send({
    v: 1,
    id: newMessageId(),
    from,
    to: "reader",
    sentAt: new Date().toISOString(),
    kind: "text",
    text: String(n),
  });
  if (n % 2 === 0) await sending;
  else pending.push(sending);
}
await Promise.all(pending);
