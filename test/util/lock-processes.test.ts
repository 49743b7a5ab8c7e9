import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { readLock } from "../../src/util/lock.js";
import { bundleScript } from "../helpers/bundle.js";
import { temporaryDirectory } from "../helpers/temp.js";

it("8 contenders never hold a lock at once while 100 owners are killed", { timeout: 300_000 }, async () => {
  const dir = temporaryDirectory();
  const lock = path.join(dir, "lock");
  const signature = path.join(dir, "signature");
  fs.writeFileSync(signature, "");
  const start = startIn(lock, signature);

  let kills = 0;
  await Promise.all(
    Array.from({ length: 8 }, async (_, lane) => {
      for (let n = 0; kills < 100; n++) {
        kills++;
        const child = start((lane + n) % 4, "die");
        const gone = once(child, "exit");
        // Half of them are killed at any moment, in the middle of anything; the rest stall, go on and die holding it.
        await Promise.race([once(child.stdout!, "data"), gone]);
        const moment = (lane * 7 + n * 13) % 60;
        if (n % 2 === 0) schedule(child, moment, () => child.kill("SIGKILL"));
        else schedule(child, moment, () => stall(child));
        expect(await gone).toEqual([null, "SIGKILL"]);
      }
    }),
  );
  expect(await once(start(20, "stop"), "exit")).toEqual([0, null]);

  expect(fs.existsSync(`${signature}.violations`)).toBe(false);
  const left = fs.readdirSync(lock);
  expect(left.filter((name) => name.startsWith(".draft-"))).toEqual([]);
  expect(left.filter((name) => /^\d+\.json$/.test(name)).length).toBeLessThanOrEqual(2);
  const { token, released } = readLock(lock)!;
  expect(token).toBeGreaterThan(120);
  expect(released).toBe(true);
});

/** Starts contenders for one lock; those that still run are killed when the test is over. */
function startIn(lock: string, signature: string): (rounds: number, end: "die" | "stop") => ChildProcess {
  const script = bundleScript(path.join(import.meta.dirname, "processes/lock-contender.ts"));
  const running = new Set<ChildProcess>();
  onTestFinished(async () => {
    await Promise.all(
      Array.from(running, async (child) => {
        const gone = once(child, "exit");
        child.kill("SIGKILL");
        await gone;
      }),
    );
  });
  return (rounds, end) => {
    const child = spawn(process.execPath, [script, lock, signature, String(rounds), end]);
    running.add(child);
    child.once("exit", () => running.delete(child));
    return child;
  };
}

function schedule(child: ChildProcess, ms: number, act: () => void): void {
  const timer = setTimeout(act, ms);
  child.once("exit", () => clearTimeout(timer));
}

function stall(child: ChildProcess): void {
  child.kill("SIGSTOP");
  schedule(child, 40, () => child.kill("SIGCONT"));
}
