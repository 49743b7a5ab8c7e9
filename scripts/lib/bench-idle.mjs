import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { loadMailbox, mailboxUrl, makeMailboxes } from "./bench-mail.mjs";

/** What readers cost while no mail comes; a floor of nothing, so these limits are absolute. @type {import("./bench.mjs").Bench} */
export const idleMailboxes = {
  name: "idle-mailboxes",
  title: "1,000 readers in one idle process, beside a process without any",
  runs: 20,
  async measure({ command, dir, runs: seconds }) {
    const names = await makeMailboxes(await loadMailbox(command), dir, 1000);
    const [none, all] = await Promise.all(
      [0, names.length].map((count) => idle([mailboxUrl(command), dir, `${count}`, `${seconds}`])),
    );
    const megabytes = ({ rss }) => rss / 1e6;
    const perMinute = ({ cpuMs }) => ((cpuMs / 1000) * 60) / seconds;
    const beside = (figure) => `${figure(all).toFixed(2)}, without any ${figure(none).toFixed(2)}`;
    const more = (figure) => figure(all) - figure(none);
    return {
      samples: { all: [all.rss, all.cpuMs], none: [none.rss, none.cpuMs] },
      figures: [
        { label: "memory, MB more", value: more(megabytes), text: beside(megabytes), atMost: 60 },
        {
          label: "processor s per minute more",
          value: more(perMinute),
          text: beside(perMinute),
          atMost: 0.1,
        },
      ],
    };
  },
};

/**
 * Opens the first N (argument 3) mailboxes below argument 2 with the library in argument 1, waits until all have been looked
 * at and nothing happens any more, gives memory back as V8 does after half a minute without work, and prints what the process
 * costs over the seconds in argument 4.
 */
const idleProcess = `
import { Session } from "node:inspector/promises";
import { setTimeout as delay } from "node:timers/promises";
const [, library, root, count, seconds] = process.argv;
const { openMailbox, readMailbox } = await import(library);
const readers = Array.from({ length: Number(count) }, (_, n) =>
  readMailbox(openMailbox(root + "/m" + n), { onMessage() {}, onTrouble(error) { throw error; } }));
const spent = (since) => { const { user, system } = process.cpuUsage(since); return (user + system) / 1000; };
const settled = async () => {
  for (let wait = 0; wait < 60; wait++) {
    const start = process.cpuUsage();
    await delay(500);
    if (spent(start) < 10) break;
  }
};
await settled();
const session = new Session();
session.connect();
await session.post("HeapProfiler.collectGarbage");
session.disconnect();
await settled();
const start = process.cpuUsage();
await delay(Number(seconds) * 1000);
console.log(JSON.stringify({ cpuMs: spent(start), rss: process.memoryUsage.rss() }));
for (const reader of readers) reader.close();
await Promise.all(readers.map((reader) => reader.closed));`;

async function idle(args) {
  const stdio = ["ignore", "pipe", "inherit"];
  const child = spawn(process.execPath, ["--input-type=module", "-e", idleProcess, ...args], { stdio });
  return JSON.parse(await text(child.stdout));
}
