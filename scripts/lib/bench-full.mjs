import fs from "node:fs";
import path from "node:path";
import { compare, interleave, timed } from "./bench.mjs";
import { letter, loadMailbox, settle } from "./bench-mail.mjs";

/** What a send costs where much mail waits already. @type {import("./bench.mjs").Bench} */
export const fullMailbox = {
  name: "full-mailbox",
  title: `a send to a mailbox with 10,000 messages / to one with 10`,
  runs: 60,
  async measure({ command, dir, runs }) {
    const mailbox = await loadMailbox(command);
    const boxes = {
      few: await filledMailbox(mailbox, path.join(dir, "box-few"), few),
      many: await filledMailbox(mailbox, path.join(dir, "box-many"), many),
    };
    const arrays = {
      few: filledArray(path.join(dir, "array-few"), few),
      many: filledArray(path.join(dir, "array-many"), many),
    };
    settle(dir);
    const ours = await interleave(boxes, runs);
    const theirs = await interleave(arrays, Math.ceil(runs / 4));
    return {
      samples: { few: ours.few, many: ours.many, arrayOfFew: theirs.few, arrayOfMany: theirs.many },
      figures: [
        compare("mailbox", ours.many, ours.few, 0.5, { atMost: 1.2 }),
        compare("JSON array with a lock file", theirs.many, theirs.few, 0.5),
      ],
    };
  },
};

const [few, many] = [10, 10_000];

/** A mailbox in which `count` messages wait; gives what sends one more, and takes it out again after the time. */
async function filledMailbox(mailbox, dir, count) {
  await mailbox.createMailbox(dir);
  const fileOf = (id) => path.join(dir, "new", `${id}.json`);
  for (const message of Array.from({ length: count }, () => letter()))
    fs.writeFileSync(fileOf(message.id), JSON.stringify(message));
  const { send } = mailbox.openMailbox(dir);
  return async () => {
    const message = letter();
    const duration = await timed(() => send(message));
    fs.unlinkSync(fileOf(message.id));
    settle(path.join(dir, "new"));
    return duration;
  };
}

/** One file with all messages as an array, rewritten under a lock by every sender, durably; otherwise as above. */
function filledArray(dir, count) {
  fs.mkdirSync(dir);
  const [file, lock, next] = ["inbox.json", "inbox.lock", "inbox.tmp"].map((name) => path.join(dir, name));
  const content = JSON.stringify(Array.from({ length: count }, () => letter()));
  fs.writeFileSync(file, content);
  return async () => {
    const message = letter();
    const duration = await timed(() => {
      fs.closeSync(fs.openSync(lock, "wx"));
      const messages = JSON.parse(fs.readFileSync(file, "utf8"));
      fs.writeFileSync(next, JSON.stringify([...messages, message]), { flush: true });
      fs.renameSync(next, file);
      settle(dir);
      fs.unlinkSync(lock);
    });
    fs.writeFileSync(file, content, { flush: true });
    settle(dir);
    return duration;
  };
}
