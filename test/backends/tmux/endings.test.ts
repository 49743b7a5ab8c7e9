import path from "node:path";
import { describe, expect, it } from "vitest";
import { readExit } from "../../../backends/records.js";
import type { TeammateRef } from "../../../backends/types.js";
import { liveness } from "../../../src/util/process-identity.js";
import { waitUntil } from "../../../src/util/wait.js";
import { temporaryDirectory } from "../../helpers/temp.js";
import { executorOf, startProgram, usersServer } from "./support.js";

const waiting = { timeoutMs: 30_000 } as const;

/** How a program ended, once its record is there. */
async function endOf({ runDir }: TeammateRef) {
  const { exitCode, signal } = await waitUntil("the exit record", () => readExit(runDir), waiting);
  return signal ?? exitCode;
}

describe("how a teammate in a pane ended is known", () => {
  it.each<readonly [what: string, command: string, end: string | number]>([
    ["replaces itself by another program", "sleep 0.5; exec /bin/sh -c 'exec /bin/sh -c \"exit 41\"'", 41],
    ["is killed", "sleep 0.5; kill -KILL $$", "SIGKILL"],
    ["crashes", "sleep 0.5; kill -SEGV $$", "SIGSEGV"],
    ["ends while a child keeps its terminal", "setsid sleep 3 & sleep 0.5; exit 5", 5],
    ["ends while a child ignores the hangup", "(trap '' HUP; exec sleep 3) & sleep 0.5; exit 6", 6],
  ])("of one that %s", async (_, command, end) => {
    const dir = temporaryDirectory();
    const tmux = usersServer();
    const executor = executorOf(dir, { kind: "inside", socket: tmux.socket, pane: "%0" });
    const ref = await startProgram(executor, dir, "a", "/bin/sh", "-c", command);
    expect(await endOf(ref)).toBe(end);
    await waitUntil("the end", async () => (await executor.isActive("a@team")) === "gone", waiting);
  });

  it("where the whole server is killed, too", async () => {
    const dir = temporaryDirectory();
    const place = { kind: "own", runDir: path.join(dir, "t"), userConfig: false } as const;
    const executor = executorOf(dir, place);
    const plain = await startProgram(executor, dir, "a", "sleep", "300");
    const handles = "trap 'exit 9' HUP; while :; do sleep 0.1; done";
    const cleansUp = await startProgram(executor, dir, "b", "/bin/sh", "-c", handles);
    const ignores = "trap '' HUP; sleep 1; exit 3";
    const goesOn = await startProgram(executor, dir, "c", "/bin/sh", "-c", ignores);
    if (plain.server === undefined) throw new Error("no server");
    process.kill(plain.server.process.pid, "SIGKILL");
    expect(await Promise.all([plain, cleansUp, goesOn].map(endOf))).toEqual(["SIGHUP", 9, 3]);
    for (const { process: root } of [plain, cleansUp, goesOn])
      await waitUntil("the end", () => root !== undefined && liveness(root) === "gone", waiting);
  });
});
