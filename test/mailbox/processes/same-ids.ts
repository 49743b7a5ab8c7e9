// same-ids.mjs MAILBOX COUNT: sends COUNT messages that are the same in every run; prints "stored" or "duplicate" for each.
import fs from "node:fs";
import { openMailbox } from "../../../mailbox/index.js";

const [dir = "", count = "0"] = process.argv.slice(2);
const mailbox = openMailbox(dir);
for (let n = 0; n < Number(count); n++) {
  const { duplicate } = await mailbox.send({
    v: 1,
    id: `same-${String(n).padStart(6, "0")}`,
    from: "writer",
    to: "reader",
    sentAt: new Date().toISOString(),
    kind: "text",
    text: String(n),
  });
  fs.writeSync(1, duplicate ? "duplicate\n" : "stored\n");
}
