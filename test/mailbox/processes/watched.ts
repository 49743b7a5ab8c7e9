// watched.mjs MAILBOX SWEEP_MS: prints "mail <text>" for each message, "trouble <code> <message>", and "watching" or "blind" when
// that changes. SIGUSR2: raises the limits of inotify again, which whoever started it in a user namespace of its own has lowered.
import fs from "node:fs";
import { openMailbox, readMailbox } from "../../../mailbox/index.js";
import { isWatched } from "../inotify.js";

const [dir = "", sweepMs] = process.argv.slice(2);
const mailbox = openMailbox(dir);
const print = (line: string) => void fs.writeSync(1, `${line}\n`);
process.on("SIGUSR2", () => {
  for (const limit of ["max_inotify_watches", "max_inotify_instances"])
    fs.writeFileSync(`/proc/sys/user/${limit}`, "100");
});
const ending = new AbortController();
process.on("SIGTERM", () => ending.abort());
const reader = readMailbox(
  mailbox,
  {
    onMessage({ id, text }) {
      print(`mail ${text}`);
      mailbox.acknowledge([id]);
    },
    onTrouble: ({ code, message }) => print(`trouble ${code} ${message}`),
  },
  { sweepMs: Number(sweepMs) },
  ending.signal,
);
let last = "";
const looking = setInterval(() => {
  const now = isWatched(`${dir}/new`) ? "watching" : "blind";
  if (now !== last) print(now);
  last = now;
}, 20);
await reader.closed;
clearInterval(looking);
