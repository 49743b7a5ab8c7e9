import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createInProcessExecutor } from "../../backends/in-process.js";
import { readExit } from "../../backends/records.js";
import { createTmuxExecutor } from "../../backends/tmux/executor.js";
import type { TeammateExecutor } from "../../backends/types.js";
import { waitUntil } from "../../src/util/wait.js";
import { teammateConfig } from "../helpers/teammate.js";
import { temporaryDirectory } from "../helpers/temp.js";
import { tmuxProgram } from "../helpers/tmux.js";

const graceMs = 300;
const deliver = async () => undefined;

function inProcess(pty: boolean): TeammateExecutor {
  return createInProcessExecutor({ run: async () => undefined, deliver, graceMs, pty });
}

function tmux(dir: string): TeammateExecutor {
  return createTmuxExecutor({
    place: { kind: "own", runDir: path.join(dir, "t"), userConfig: false },
    team: "team",
    teamId: dir,
    env: process.env,
    deliver,
    lockDir: path.join(dir, "lock"),
    tmux: tmuxProgram,
    graceMs,
  });
}

describe.each([
  ["on pipes", () => inProcess(false)],
  ["on a pseudo-terminal", () => inProcess(true)],
  ["in a pane", tmux],
] as const)("a program %s that has to be killed", (_, make) => {
  it("is recorded as killed, and all that it put out of sight is told", async () => {
    const dir = temporaryDirectory();
    const executor = make(dir);
    onTestFinished(async () => {
      await executor.kill("deaf@team");
      await executor.close?.();
    });
    const script = [
      "trap '' TERM HUP",
      "setsid sleep 351 &",
      "nohup sleep 352 >/dev/null 2>&1 &",
      "env -i setsid sh -c 'sleep 353 & wait' &",
      "(trap '' TERM HUP; env -i sh -c 'kill -STOP $$; sleep 354') &",
      "echo >mark; while :; do sleep 355; done",
    ].join("\n");
    const config = teammateConfig(dir, "deaf", ["/bin/sh", "-c", script]);
    expect(await executor.spawn(config)).toMatchObject({ ok: true });
    await waitUntil("the start", () => fs.existsSync(path.join(dir, "mark")), { timeoutMs: 10_000 });
    const report = await executor.kill("deaf@team");
    expect(report).toMatchObject({ survivors: [], forced: true });
    const commands = report.ended.map(({ command }) => command).join("\n");
    for (const word of ["sleep 351", "sleep 352", "sleep 353", "kill -STOP"])
      expect(commands).toContain(word);
    const exit = await waitUntil("the record", () => readExit(config.runDir), { timeoutMs: 10_000 });
    expect(exit).toMatchObject({ exitCode: null, signal: "SIGKILL" });
    expect(await executor.kill("deaf@team")).toEqual({ found: [], ended: [], survivors: [] });
  });
});
