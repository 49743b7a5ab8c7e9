// reader.mjs MAILBOX [hold]: prints "<from> <text>" for each message as it comes, and acknowledges it unless it is to hold it.
import fs from "node:fs";
import { openMailbox, readMailbox } from "../../../mailbox/index.js";

const [dir = "", hold] = process.argv.slice(2);
const mailbox = openMailbox(dir);
const ending = new AbortController();
process.on("SIGTERM", () => ending.abort());
const reader = readMailbox(
  mailbox,
  {
    onMessage({ id, from, text }) {
      fs.writeSync(1, `${from} ${text}\n`);
      if (hold === undefined) mailbox.acknowledge([id]);
    },
    onTrouble(error) {
      throw error;
    },
  },
  { sweepMs: 100 },
  ending.signal,
);
await reader.closed;
