import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { interleave, speedup, timed } from "./bench.mjs";
import { letter, loadMailbox, settle } from "./bench-mail.mjs";
import { createScratchTeam } from "./scratch-team.mjs";

/** One message to many. @type {import("./bench.mjs").Bench} */
export const broadcast = {
  name: "broadcast",
  title: "a broadcast of 100 KB to 1,000 mailboxes, times as fast as 1,000 durable sends",
  runs: 2,
  async measure({ command, dir, runs }) {
    const mailbox = await loadMailbox(command);
    const names = Array.from({ length: 1000 }, (_, n) => `m${n}`);
    const team = await createScratchTeam(dir, mailbox, ["user", ...names]);
    const mail = path.join(team.root, "mail");
    const router = mailbox.openRouter(mail);
    const file = path.join(dir, "text");
    fs.writeFileSync(file, letter(100_000).text ?? "");
    /** Times `work` with a new message, checks that all have it, and takes it out again. */
    const stored = async (work) => {
      const message = { ...letter(100_000), to: "*" };
      const duration = await timed(() => work(message));
      for (const name of names) fs.unlinkSync(path.join(mail, name, "new", `${message.id}.json`));
      settle(mail);
      return duration;
    };
    const samples = await interleave(
      {
        broadcast: () => stored((message) => router.broadcast(names, message)),
        command: () =>
          stored(({ id }) => sendToAll([command, "send", "*", "--file", file, "--id", id], team.env)),
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
        speedup("troupe send as a whole process, one after another", samples.command, oneByOne, {
          atLeast: 1,
        }),
        speedup("all in flight", samples.broadcast, together, { atLeast: 4 }),
      ],
    };
  },
};

/** @param {readonly string[]} args @param {NodeJS.ProcessEnv} env */
function sendToAll(args, env) {
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`troupe send: exit ${status}: ${stderr.slice(0, 400)}`);
}
