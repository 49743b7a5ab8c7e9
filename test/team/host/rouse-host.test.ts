import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import net from "node:net";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { rouseHost } from "../../../src/team/host/rouse-host.js";
import { tryLock } from "../../../src/util/lock.js";
import { bundleScript } from "../../helpers/bundle.js";
import { type LivingTeam, makeLivingTeam } from "../living-team.js";

/** A host that takes connections and never answers. */
async function startSilentHost({ paths }: LivingTeam): Promise<ChildProcess> {
  const script = bundleScript(path.join(import.meta.dirname, "../processes/silent-host.ts"));
  const child = spawn(process.execPath, [script, paths.lock, paths.socket], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child;
}

function rouse(team: LivingTeam, mayKill: boolean, answerMs = 300) {
  const notes: string[] = [];
  const note = async (text: string) => void notes.push(text);
  return { notes, done: rouseHost(team, { mayKill, note, answerMs }) };
}

it("kills a host that stays silent, once it was woken in vain", async () => {
  const team = await makeLivingTeam();
  const child = await startSilentHost(team);
  const ended = once(child, "exit");
  const { notes, done } = rouse(team, true);
  await done;
  expect(await ended).toEqual([null, "SIGKILL"]);
  expect(notes).toEqual([
    expect.stringMatching(new RegExp(`host of ${team.paths.dirName} \\(process ${child.pid}\\).*waking`)),
    expect.stringMatching(/killing/),
  ]);
});

it("leaves it alone for who wants less than the team's end, and says what would help", async () => {
  const team = await makeLivingTeam();
  const child = await startSilentHost(team);
  await expect(rouse(team, false).done).rejects.toMatchObject({
    code: "host-silent",
    kind: "not-reached",
    remedy: expect.stringContaining("troupe down --team"),
  });
  expect(child.exitCode ?? child.signalCode).toBeNull();
});

it("does nothing to a host that answers, or where there is none", async () => {
  const team = await makeLivingTeam();
  const { notes, done } = rouse(team, true);
  await done;
  const server = net.createServer((stream) =>
    stream.on("data", () => void stream.write(`${JSON.stringify({ id: 1, ok: true, result: {} })}\n`)),
  );
  await once(server.listen(team.paths.socket), "listening");
  onTestFinished(() => void server.close());
  const lock = await tryLock(team.paths.lock);
  await rouse(team, true, 10_000).done;
  lock?.release();
  expect(notes).toEqual([]);
});
