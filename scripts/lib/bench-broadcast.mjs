import fs from "node:fs";
import path from "node:path";
import { interleave, speedup, timed } from "./bench.mjs";
import { letter, loadMailbox, makeMailboxes, settle } from "./bench-mail.mjs";

/** One message to many. @type {import("./bench.mjs").Bench} */
export const broadcast = {
  name: "broadcast",
  title: "a broadcast of 100 KB to 1,000 mailboxes, times as fast as 1,000 durable sends",
  runs: 2,
  async measure({ command, dir, runs }) {
    const mailbox = await loadMailbox(command);
    const names = await makeMailboxes(mailbox, dir, 1000);
    const router = mailbox.openRouter(dir);
    /** Times `work` with a new message, checks that all have it, and takes it out again. */
    const stored = async (work) => {
      const message = { ...letter(100_000), to: "*" };
      const duration = await timed(() => work(message));
      for (const name of names) fs.unlinkSync(path.join(dir, name, "new", `${message.id}.json`));
      settle(dir);
      return duration;
    };
    const samples = await interleave(
      {
        broadcast: () => stored((message) => router.broadcast(names, message)),
        blocking: () => stored((message) => router.broadcastSync(names, message)),
        together: () => stored((message) => Promise.all(names.map((name) => router.deliver(name, message)))),
        oneByOne: () =>
          stored(async (message) => {
            for (const name of names) await router.deliver(name, message);
          }),
      },
      runs,
    );
    const { oneByOne, together } = samples;
    return {
      samples,
      figures: [
        speedup("one after another", samples.broadcast, oneByOne, { atLeast: 4 }),
        speedup("blocking, one after another", samples.blocking, oneByOne),
        speedup("all in flight", samples.broadcast, together, { atLeast: 4 }),
      ],
    };
  },
};
