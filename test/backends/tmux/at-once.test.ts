import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import type { TeammateSpawnResult } from "../../../backends/types.js";
import { acquireLock } from "../../../src/util/lock.js";
import { waitUntil } from "../../../src/util/wait.js";
import { bundleScript } from "../../helpers/bundle.js";
import { teammateConfig } from "../../helpers/teammate.js";
import { temporaryDirectory } from "../../helpers/temp.js";
import { tmuxProgram } from "../../helpers/tmux.js";
import { executorOf, panesOf, start, usersServer } from "./support.js";

const run = promisify(execFile);

describe("several who open panes on one server", () => {
  it("in eight processes at once get eight panes, all where they belong", { timeout: 180_000 }, async () => {
    const dir = temporaryDirectory();
    const tmux = usersServer();
    tmux.run("new-window", "-d", "-t", "work:", "/bin/sh", "-c", "exec cat");
    const lockDir = path.join(dir, "lock");
    const script = bundleScript(path.join(import.meta.dirname, "processes/open-pane.ts"));
    const names = Array.from({ length: 8 }, (_, index) => `mate${index}`);
    const executor = executorOf(dir, { kind: "inside", socket: tmux.socket, pane: "%0" });
    onTestFinished(async () => void (await Promise.all(names.map((n) => executor.kill(`${n}@team`)))));
    const results = await Promise.all(
      names.map(async (name): Promise<TeammateSpawnResult> => {
        const args = [script, dir, tmux.socket, lockDir, name, tmuxProgram];
        return JSON.parse((await run(process.execPath, args)).stdout);
      }),
    );
    expect(results.filter((result) => !result.ok)).toEqual([]);
    for (const result of results) if (result.ok) expect(await executor.adopt(result.ref)).toBe(true);
    const rows = panesOf(tmux, "#{window_id} #{@troupe_agent} #{pane_title}").filter((row) =>
      row.includes("@team"),
    );
    expect(rows.map((row) => row.split(" ")[1]).sort()).toEqual(names.map((name) => `${name}@team`));
    // Every pane carries its own teammate's title, and the user's other window stayed as it was.
    expect(rows.filter((row) => row.split(" ")[1] !== `${row.split(" ")[2]}@team`)).toEqual([]);
    expect(rows.every((row) => row.startsWith("@0 "))).toBe(true);
    await Promise.all(names.map((name) => executor.kill(`${name}@team`)));
    expect(panesOf(tmux, "#{pane_id}")).toHaveLength(2);
  });

  it("that give up while they wait for their turn start nothing, and hold up nobody", async () => {
    const dir = temporaryDirectory();
    const tmux = usersServer();
    const executor = executorOf(dir, { kind: "inside", socket: tmux.socket, pane: "%0" });
    const others = await acquireLock(path.join(dir, "lock"), 5_000);
    onTestFinished(others.release);
    const controller = new AbortController();
    const first = start(executor, dir, "a");
    const configs = [0, 1].map((index) => teammateConfig(dir, `b${index}`, ["sleep", "300"]));
    const given = configs.map((config) => executor.spawn(config, controller.signal));
    const last = start(executor, dir, "c");
    await waitUntil(
      "all to be ready for their turn",
      () => configs.every(({ runDir }) => fs.existsSync(path.join(runDir, "launch.sh"))),
      { timeoutMs: 20_000 },
    );
    controller.abort(new Error("enough"));
    // Somebody else still holds the lock.
    for (const result of await Promise.all(given))
      expect(result).toMatchObject({ ok: false, code: "aborted" });
    expect(configs.flatMap(({ runDir }) => fs.readdirSync(runDir))).toEqual([]);
    others.release();
    await Promise.all([first, last]);
    expect(panesOf(tmux, "#{@troupe_agent}").sort()).toEqual(["", "a@team", "c@team"]);
  });
});
