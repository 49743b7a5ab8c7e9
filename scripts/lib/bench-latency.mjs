import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { compare, interleave } from "./bench.mjs";
import { bareMailbox, letter, loadMailbox, mailboxUrl } from "./bench-mail.mjs";
import { createScratchTeam } from "./scratch-team.mjs";

/** From the link into new/ until another process has the parsed message. @type {import("./bench.mjs").Bench} */
export const readerLatency = {
  name: "reader-latency",
  title: "link into new/ until the recipient process has the parsed message / a bare fs.watch loop",
  runs: 2000,
  async measure({ command, dir, runs }) {
    const { createMailbox } = await loadMailbox(command);
    const box = path.join(dir, "box");
    await createMailbox(box);
    const args = ["--input-type=module", "-e", libraryReader, mailboxUrl(command), box];
    return measureReader(box, () => startReader(args, {}), dir, runs, [
      { label: "p50", share: 0.5, limit: { atMost: 2 } },
      { label: "p99", share: 0.99, limit: { atMost: 3 } },
    ]);
  },
};

/** From the link into new/ until another process has printed the message. @type {import("./bench.mjs").Bench} */
export const inboxLatency = {
  name: "inbox-latency",
  title: "link into new/ until `troupe inbox --follow --json` has printed it / a bare fs.watch loop",
  runs: 200,
  async measure({ command, dir, runs }) {
    const team = await createScratchTeam(path.join(dir, "home"), await loadMailbox(command));
    const start = () => startReader([command, "inbox", "--follow", "--json"], team.env);
    return measureReader(team.mailboxOf("user"), start, dir, runs, [{ label: "p50", share: 0.5 }]);
  },
};

/** How long a reader may take with one message before the bench gives up. */
const deadlineMs = 30_000;

/** Reads the mailbox in argument 2 with the library in argument 1; prints each message's id and when it had it. */
const libraryReader = `
const [, library, dir] = process.argv;
const { openMailbox, readMailbox } = await import(library);
const mailbox = openMailbox(dir);
const reader = readMailbox(mailbox, {
  onMessage({ id }) {
    const at = process.hrtime.bigint();
    mailbox.acknowledge([id]);
    process.stdout.write(id + " " + at + "\\n");
  },
});
await reader.closed;`;

/** The least that tells of new files in the directory in argument 1. It removes what it has told, as a reader does. */
const watchLoop = `
const fs = require("node:fs");
const dir = process.argv[1];
const look = () => {
  for (const name of fs.readdirSync(dir)) {
    const { id } = JSON.parse(fs.readFileSync(dir + "/" + name, "utf8"));
    const at = process.hrtime.bigint();
    fs.unlinkSync(dir + "/" + name);
    process.stdout.write(id + " " + at + "\\n");
  }
};
fs.watch(dir, look);
look();`;

async function measureReader(box, startProduct, dir, runs, shares) {
  const bare = bareMailbox(path.join(dir, "bare"));
  const readers = {
    troupe: startProduct(),
    watch: startReader(["-e", watchLoop, path.join(bare, "new")], {}),
  };
  try {
    const samples = await interleave(
      { troupe: () => timeToRead(box, readers.troupe), watch: () => timeToRead(bare, readers.watch) },
      runs,
    );
    const figures = shares.map(({ label, share, limit }) =>
      compare(label, samples.troupe, samples.watch, share, limit),
    );
    return { samples, figures };
  } finally {
    await Promise.all(Object.values(readers).map((reader) => reader.close()));
  }
}

/**
 * A process that prints a line with the id of each message it has, and at the line's end the time (of the clock that all
 * processes share) if it says when that was; else the arrival of the line counts.
 */
function startReader(args, env) {
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  const gone = once(child, "exit");
  let waiting;
  let pending = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    const arrived = process.hrtime.bigint();
    const lines = (pending + text).split("\n");
    pending = lines.pop() ?? "";
    for (const line of lines)
      if (waiting !== undefined && line.includes(waiting.id))
        waiting.resolve(BigInt(/ (\d+)$/.exec(line)?.[1] ?? arrived));
  });
  return {
    /** When the process had `id`, in nanoseconds. */
    async had(id) {
      const told = new Promise((resolve) => {
        waiting = { id, resolve };
      });
      let timer;
      const late = new Promise((_, reject) => {
        timer = setTimeout(reject, deadlineMs, new Error(`the reader has not told of ${id}`));
      });
      const ended = gone.then(([code, signal]) =>
        Promise.reject(new Error(`the reader ended: ${code ?? signal}`)),
      );
      return Promise.race([told, ended, late]).finally(() => clearTimeout(timer));
    },
    async close() {
      child.kill();
      await gone;
    },
  };
}

async function timeToRead(box, reader) {
  const message = letter();
  const draft = path.join(box, "tmp", `${message.id}.json`);
  fs.writeFileSync(draft, JSON.stringify(message));
  const had = reader.had(message.id);
  const start = process.hrtime.bigint();
  fs.linkSync(draft, path.join(box, "new", `${message.id}.json`));
  fs.unlinkSync(draft);
  return Number((await had) - start) / 1e6;
}
