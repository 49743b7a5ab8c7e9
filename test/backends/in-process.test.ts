import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { RunEmbedded } from "../../backends/embedded.js";
import { runIdOf } from "../../backends/environment.js";
import { createInProcessExecutor, type InProcessOptions } from "../../backends/in-process.js";
import { findTree } from "../../backends/process-tree.js";
import { loadPty } from "../../backends/pty.js";
import { readExit } from "../../backends/records.js";
import { currentIdentity } from "../../src/util/context.js";
import { readStat } from "../../src/util/process-identity.js";
import { delay, waitUntil } from "../../src/util/wait.js";
import { teammateConfig } from "../helpers/teammate.js";
import { temporaryDirectory } from "../helpers/temp.js";

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

const stays: RunEmbedded = async (_, started, signal) => {
  started();
  await untilAborted(signal);
};

function setUp(run: RunEmbedded, options: Partial<InProcessOptions> = {}) {
  const dir = temporaryDirectory();
  const ended: [string, unknown][] = [];
  const executor = createInProcessExecutor({
    run,
    deliver: async () => undefined,
    graceMs: 300,
    onEnded: (agentId, end, error) =>
      ended.push([agentId, [end.exitCode, error instanceof Error ? error.message : error]]),
    ...options,
  });
  const agent = (name: string, more = {}) =>
    teammateConfig(dir, name, ["unused"], { launch: { kind: "agent", argv: ["unused"] }, ...more });
  return { dir, executor, agent, ended };
}

describe("an embedded agent", () => {
  it("runs as itself, from its proof of life to its end", async () => {
    const seen: unknown[] = [];
    const { executor, agent, ended } = setUp(async (config, started, signal, revoked) => {
      await delay(5);
      seen.push(currentIdentity());
      started();
      await stays(config, started, signal, revoked);
    });
    const one = agent("one");
    const two = agent("two");
    const results = await Promise.all([executor.spawn(one), executor.spawn(two)]);
    expect(results).toMatchObject([
      { ok: true, pid: process.pid },
      { ok: true, pid: process.pid },
    ]);
    expect(seen).toEqual([
      { agentId: "one@team", incarnation: path.basename(one.runDir) },
      { agentId: "two@team", incarnation: path.basename(two.runDir) },
    ]);
    expect(currentIdentity()).toBeUndefined();
    expect(await executor.isActive("one@team")).toBe("alive");
    const note = { pid: 0, command: "one@team" };
    expect(await executor.kill("one@team")).toEqual({ found: [note], ended: [note], survivors: [] });
    expect(await executor.isActive("one@team")).toBe("gone");
    expect(await executor.isActive("two@team")).toBe("alive");
    expect(ended).toEqual([["one@team", [0, undefined]]]);
    expect(readExit(one.runDir)).toMatchObject({ exitCode: 0 });
    await executor.kill("two@team");
  });

  it("ends by itself, well or with an error, and others go on", async () => {
    const { executor, agent, ended } = setUp(async (config, started, signal) => {
      started();
      if (config.name === "good") return;
      if (config.name === "bad") throw new Error("out of tokens");
      await untilAborted(signal);
    });
    for (const name of ["good", "bad", "other"]) await executor.spawn(agent(name));
    await waitUntil("both ends", () => ended.length === 2, { timeoutMs: 20_000 });
    expect(new Map(ended)).toEqual(
      new Map([
        ["good@team", [0, undefined]],
        ["bad@team", [1, "out of tokens"]],
      ]),
    );
    expect(await executor.isActive("other@team")).toBe("alive");
    await executor.kill("other@team");
  });

  it("explains a start that fails, takes too long or is given up, and leaves nothing", async () => {
    const { executor, agent } = setUp(async (config, _, signal) => {
      if (config.name === "thrower") throw new Error("no model");
      if (config.name !== "quitter") await untilAborted(signal);
    });
    expect(await executor.spawn(agent("thrower"))).toMatchObject({
      ok: false,
      code: "exited",
      reason: expect.stringContaining("no model"),
    });
    expect(await executor.spawn(agent("quitter"))).toMatchObject({ ok: false, code: "exited" });
    expect(await executor.spawn(agent("slow", { deadlineMs: 30 }))).toMatchObject({
      ok: false,
      code: "deadline",
    });
    expect(await executor.spawn(agent("gone"), AbortSignal.timeout(20))).toMatchObject({
      ok: false,
      code: "aborted",
    });
    for (const name of ["thrower", "quitter", "slow", "gone"])
      expect(await executor.isActive(`${name}@team`)).toBe("gone");
  });

  it("is asked to end with a reason", async () => {
    const { executor, agent, ended } = setUp(stays);
    await executor.spawn(agent("one"));
    expect(await executor.terminate("one@team", "enough")).toBe(true);
    await waitUntil("the end", () => ended.length === 1, { timeoutMs: 20_000 });
    expect(await executor.terminate("one@team")).toBe(false);
  });

  it("takes the programs along that it started", async () => {
    const { executor, agent } = setUp(async (config, started, signal) => {
      spawn("setsid", ["sleep", "310"], { stdio: "ignore", env: { ...config.env } });
      started();
      await untilAborted(signal);
    });
    const config = agent("one");
    await executor.spawn(config);
    const tree = { runId: runIdOf(config.runDir) };
    await waitUntil("the program", () => findTree(tree).some(({ command }) => command === "sleep 310"), {
      timeoutMs: 20_000,
    });
    const report = await executor.kill("one@team");
    expect(report.ended.map(({ command }) => command)).toEqual(["one@team", "sleep 310"]);
    expect(findTree(tree)).toEqual([]);
  });

  it("is told as a survivor while it does not end, and not started twice", async () => {
    let release: () => void = () => undefined;
    let reach: AbortSignal | undefined;
    const { executor, agent } = setUp(async (_config, started, _signal, revoked) => {
      reach = revoked;
      started();
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    });
    await executor.spawn(agent("one"));
    expect(reach?.aborted).toBe(false);
    expect((await executor.kill("one@team")).survivors).toEqual([{ pid: 0, command: "one@team" }]);
    expect(reach?.reason).toMatchObject({ message: "one@team was killed" });
    expect(await executor.spawn(agent("one"))).toMatchObject({ ok: false, code: "already-running" });
    release();
    expect((await executor.kill("one@team")).survivors).toEqual([]);
  });
});

describe("another program in one process", () => {
  it.each([
    ["where its launch asks for one", {}, true, "yes xterm-256color"],
    ["where all get one", { pty: true }, false, "yes xterm-256color"],
    ["nowhere else", {}, false, "no"],
  ] as const)("sees a terminal %s", async (_, options, terminal, answer) => {
    expect(await loadPty()).toHaveProperty("start");
    const { dir, executor } = setUp(stays, options);
    const script = 'test -t 0 && test -t 1 && echo "yes $TERM" || echo "no $TERM"; exec sleep 300';
    const argv = ["/bin/sh", "-c", script];
    const result = await executor.spawn(
      teammateConfig(dir, "a", argv, { launch: { kind: "argv", argv, terminal } }),
    );
    expect(result).toMatchObject({ ok: true });
    const { pid } = result.ok ? result : { pid: 0 };
    expect(readStat(pid)).toMatchObject({ sid: pid, pgid: pid });
    await waitUntil("the answer", async () => (await executor.capture?.("a@team", 1)) === answer, {
      timeoutMs: 20_000,
    });
    await executor.kill("a@team");
  });

  it("has its output told by lines, a last one without end included", async () => {
    const lines: string[] = [];
    const { dir, executor, ended } = setUp(stays, {
      onOutput: (agentId, line) => lines.push(`${agentId}: ${line}`),
    });
    const config = teammateConfig(dir, "a", [
      "/bin/sh",
      "-c",
      "printf 'gr\\303'; sleep 0.05; printf '\\274n\\r\\nlast'; head -c 70000 /dev/zero | tr '\\0' x >&2",
    ]);
    await executor.spawn(config);
    await waitUntil("the end", () => ended.length === 1 && lines.length >= 2, { timeoutMs: 20_000 });
    await waitUntil("the rest", () => lines.join("").length >= 70_000, { timeoutMs: 20_000 });
    expect(lines[0]).toBe("a@team: grün");
    expect(lines[1]).toMatch(/^a@team: last/);
    expect(fs.statSync(path.join(config.runDir, "output.log")).size).toBe(70_011);
  });
});
