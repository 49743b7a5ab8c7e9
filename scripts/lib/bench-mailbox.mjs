import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { compare, interleave } from "./bench.mjs";
import { createScratchTeam } from "./scratch-team.mjs";

/** From the link into new/ until another process has printed the message. @type {import("./bench.mjs").Bench} */
export const mailboxLatency = {
  name: "mailbox-latency",
  title: "link into new/ until `troupe inbox --follow --json` prints it / a bare fs.watch loop",
  runs: 200,
  async measure({ command, dir, runs }) {
    const team = await createScratchTeam(path.join(dir, "home"), await loadMailbox(command));
    const bare = path.join(dir, "bare");
    for (const room of ["tmp", "new"]) fs.mkdirSync(path.join(bare, room), { recursive: true });
    const readers = {
      troupe: startReader([command, "inbox", "--follow", "--json"], team.env),
      watch: startReader(["-e", watchLoop, path.join(bare, "new")], {}),
    };
    try {
      const samples = await interleave(
        {
          troupe: () => timeToPrint(team.mailboxOf("user"), readers.troupe),
          watch: () => timeToPrint(bare, readers.watch),
        },
        runs,
      );
      return {
        samples,
        figures: [
          compare("p50", samples.troupe, samples.watch, 0.5, 2),
          compare("p99", samples.troupe, samples.watch, 0.99),
        ],
      };
    } finally {
      await Promise.all(Object.values(readers).map((reader) => reader.close()));
    }
  },
};

/** Durable sends from one process. @type {import("./bench.mjs").Bench} */
export const mailboxSends = {
  name: "mailbox-sends",
  title: "64 durable sends / a bare loop with the same two fsyncs each",
  runs: 10,
  async measure({ command, dir, runs }) {
    const mailbox = await loadMailbox(command);
    const team = await createScratchTeam(path.join(dir, "home"), mailbox);
    const box = mailbox.openMailbox(team.mailboxOf("quiet"));
    const bare = path.join(dir, "bare");
    for (const room of ["tmp", "new"]) fs.mkdirSync(path.join(bare, room), { recursive: true });
    const samples = await interleave(
      {
        oneByOne: () =>
          timed(async () => {
            for (let n = 0; n < burst; n++) await box.send(letter("quiet"));
          }),
        together: () =>
          timed(() => Promise.all(Array.from({ length: burst }, () => box.send(letter("quiet"))))),
        bare: () =>
          timed(() => {
            for (let n = 0; n < burst; n++) bareSend(bare, letter("quiet"));
          }),
      },
      runs,
    );
    return {
      samples,
      figures: [
        compare("one after another", samples.oneByOne, samples.bare, 0.5),
        compare("all at once", samples.together, samples.bare, 0.5, 1),
      ],
    };
  },
};

const burst = 64;

/** How long a reader may take to print one message before the bench gives up. */
const deadlineMs = 30_000;

/** The least that tells of new files in a directory: argument 1. It removes what it has told, as a reader does. */
const watchLoop = `
const fs = require("node:fs");
const dir = process.argv[1];
const look = () => {
  for (const name of fs.readdirSync(dir)) {
    process.stdout.write(JSON.parse(fs.readFileSync(dir + "/" + name, "utf8")).id + "\\n");
    fs.unlinkSync(dir + "/" + name);
  }
};
fs.watch(dir, look);
look();`;

/** A process that prints the id of each message that arrives somewhere in a line. */
function startReader(args, env) {
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  const gone = once(child, "exit");
  let waiting;
  child.stdout.setEncoding("utf8").on("data", (text) => {
    const at = performance.now();
    if (waiting !== undefined && text.includes(waiting.id)) waiting.resolve(at);
  });
  return {
    /** When `id` is printed. */
    async printed(id) {
      const told = new Promise((resolve) => {
        waiting = { id, resolve };
      });
      const ended = gone.then(([code, signal]) =>
        Promise.reject(new Error(`the reader ended: ${code ?? signal}`)),
      );
      const late = AbortSignal.timeout(deadlineMs);
      return Promise.race([told, ended, once(late, "abort").then(() => Promise.reject(late.reason))]);
    },
    async close() {
      child.kill();
      await gone;
    },
  };
}

async function timeToPrint(dir, reader) {
  const message = letter("user");
  const draft = path.join(dir, "tmp", `${message.id}.json`);
  fs.writeFileSync(draft, JSON.stringify(message));
  const printed = reader.printed(message.id);
  const start = performance.now();
  fs.linkSync(draft, path.join(dir, "new", `${message.id}.json`));
  fs.unlinkSync(draft);
  return (await printed) - start;
}

function letter(to) {
  const sentAt = new Date().toISOString();
  return { v: 1, id: randomUUID(), from: "bench", to, sentAt, kind: "text", text: "x".repeat(200) };
}

async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function bareSend(dir, message) {
  const draft = path.join(dir, "tmp", `${message.id}.json`);
  const file = fs.openSync(draft, "wx");
  fs.writeSync(file, JSON.stringify(message));
  fs.fsyncSync(file);
  fs.closeSync(file);
  fs.linkSync(draft, path.join(dir, "new", `${message.id}.json`));
  fs.unlinkSync(draft);
  const directory = fs.openSync(path.join(dir, "new"), "r");
  fs.fsyncSync(directory);
  fs.closeSync(directory);
}

function loadMailbox(command) {
  return import(pathToFileURL(path.join(path.dirname(command), "mailbox.js")).href);
}
