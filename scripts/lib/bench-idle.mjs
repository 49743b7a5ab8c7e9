import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { loadMailbox, mailboxUrl, makeMailboxes } from "./bench-mail.mjs";

/** What readers cost while no mail comes; a floor of nothing, so these limits are absolute. @type {import("./bench.mjs").Bench} */
export const idleMailboxes = {
  name: "idle-mailboxes",
  title: "1,000 readers in one process that has been idle for a minute, beside a process without any",
  runs: 5,
  rounds: 1,
  async measure({ command, dir, runs: minutes }) {
    const names = await makeMailboxes(await loadMailbox(command), dir, 1000);
    const [none, all] = await Promise.all(
      [0, names.length].map((count) => idle([mailboxUrl(command), dir, `${count}`, `${minutes}`])),
    );
    const megabytes = ({ rss }) => rss / 1e6;
    const perMinute = ({ cpuMs }) => Math.max(...cpuMs) / 1000;
    const beside = (figure) => `${figure(all).toFixed(2)}, without any ${figure(none).toFixed(2)}`;
    const more = (figure) => figure(all) - figure(none);
    return {
      samples: { rss: [all.rss, none.rss], all: all.cpuMs, none: none.cpuMs },
      figures: [
        { label: "memory, MB more", value: more(megabytes), text: beside(megabytes), atMost: 60 },
        {
          label: "processor s in the worst minute",
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
 * at and nothing has happened for a minute, gives memory back as V8 does after half a minute without work, and prints what the
 * process costs in each of the minutes whose number is argument 4.
 */
const idleProcess = `
import { Session } from "node:inspector/promises";
import { setTimeout as delay } from "node:timers/promises";
const [, library, root, count, minutes] = process.argv;
const { openMailbox, readMailbox } = await import(library);
const readers = Array.from({ length: Number(count) }, (_, n) =>
  readMailbox(openMailbox(root + "/m" + n), { onMessage() {}, onTrouble(error) { throw error; } }));
const spent = (since) => { const { user, system } = process.cpuUsage(since); return (user + system) / 1000; };
await delay(90_000);
const session = new Session();
session.connect();
await session.post("HeapProfiler.collectGarbage");
session.disconnect();
await delay(5_000);
const cpuMs = [];
for (let minute = 0; minute < Number(minutes); minute++) {
  const start = process.cpuUsage();
  await delay(60_000);
  cpuMs.push(spent(start));
}
console.log(JSON.stringify({ cpuMs, rss: process.memoryUsage.rss() }));
for (const reader of readers) reader.close();
await Promise.all(readers.map((reader) => reader.closed));`;

async function idle(args) {
  const stdio = ["ignore", "pipe", "inherit"];
  const child = spawn(process.execPath, ["--input-type=module", "-e", idleProcess, ...args], { stdio });
  return JSON.parse(await text(child.stdout));
}
