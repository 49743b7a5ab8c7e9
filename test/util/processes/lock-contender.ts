// Takes and releases a lock over and over; run by lock-processes.test.ts as a process of its own. Arguments: the lock's directory,
// the file in which the holder signs, how many clean rounds to do, and what to do then: `die` holding the lock or `stop`.
import fs from "node:fs";
import { acquireLock, type Lock } from "../../../src/util/lock.js";
import { liveness, type ProcessIdentity, selfIdentity } from "../../../src/util/process-identity.js";

const [dir = "", signature = "", rounds = "", end] = process.argv.slice(2);
const self = selfIdentity();

/** Who signed and has not signed off, or undefined. */
function signed(): (ProcessIdentity & { token: number }) | undefined {
  const text = fs.readFileSync(signature, "utf8");
  return text === "" ? undefined : JSON.parse(text);
}

async function enter(): Promise<Lock> {
  const lock = await acquireLock(dir, 60_000);
  const before = signed();
  // One who signed, never signed off and still runs holds the lock at the same time.
  if (before !== undefined && liveness(before) !== "gone") report("entered", before);
  fs.writeFileSync(`${signature}.${self.pid}`, JSON.stringify({ ...self, token: lock.token }));
  fs.renameSync(`${signature}.${self.pid}`, signature);
  return lock;
}

function leave(lock: Lock): void {
  const now = signed();
  if (now?.pid !== self.pid || now.token !== lock.token) report("left", now);
  fs.writeFileSync(`${signature}.${self.pid}`, "");
  fs.renameSync(`${signature}.${self.pid}`, signature);
  lock.release();
}

function report(when: string, other: unknown): void {
  fs.appendFileSync(`${signature}.violations`, `${JSON.stringify({ when, self, other })}\n`);
}

process.stdout.write("ready\n");
for (let round = 0; round < Number(rounds); round++) leave(await enter());
if (end === "die") {
  await enter();
  process.kill(process.pid, "SIGKILL");
}
