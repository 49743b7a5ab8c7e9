import fs from "node:fs";
import path from "node:path";
import { interleave, speedup, timed } from "./bench.mjs";
import { bareMailbox, letter, loadMailbox } from "./bench-mail.mjs";

/** Durable sends from one process. @type {import("./bench.mjs").Bench} */
export const durableSends = {
  name: "durable-sends",
  title: `throughput of 64 durable sends / a bare loop with the same two fsyncs each`,
  runs: 15,
  async measure({ command, dir, runs }) {
    const mailbox = await loadMailbox(command);
    const box = path.join(dir, "box");
    await mailbox.createMailbox(box);
    const { send } = mailbox.openMailbox(box);
    const bare = bareMailbox(path.join(dir, "bare"));
    const samples = await interleave(
      {
        awaited: () => timed(() => sendAwaited(send, burst)),
        eight: () => timed(() => Promise.all(Array.from({ length: 8 }, () => sendAwaited(send, burst / 8)))),
        bare: () =>
          timed(() => {
            for (let n = 0; n < burst; n++) bareSend(bare, letter());
          }),
      },
      runs,
    );
    return {
      samples,
      figures: [
        speedup("one awaited sender", samples.awaited, samples.bare, { atLeast: 0.6 }),
        speedup("8 in flight", samples.eight, samples.bare, { atLeast: 1.5 }),
      ],
    };
  },
};

const burst = 64;

async function sendAwaited(send, count) {
  for (let n = 0; n < count; n++) await send(letter());
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
