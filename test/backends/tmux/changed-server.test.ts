import fs from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { createTmuxClient } from "../../../backends/tmux/client.js";
import { probeTmux } from "../../../backends/tmux/probe.js";
import { liveness } from "../../../src/util/process-identity.js";
import { waitUntil } from "../../../src/util/wait.js";
import { teammateConfig } from "../../helpers/teammate.js";
import { temporaryDirectory } from "../../helpers/temp.js";
import { type TestTmux, tmuxProgram } from "../../helpers/tmux.js";
import { executorOf, panesOf, start, usersServer } from "./support.js";

/** Ends a server and starts another on its socket, with a session of the same name whose ids are the same. */
async function startAnew(tmux: TestTmux): Promise<void> {
  const pid = Number(tmux.run("display-message", "-p", "#{pid}"));
  tmux.run("kill-server");
  await waitUntil("the end of the server", () => !fs.existsSync(`/proc/${pid}`), { timeoutMs: 20_000 });
  tmux.run("new-session", "-d", "-x", "200", "-y", "50", "-s", "work", "/bin/sh", "-c", "exec cat");
}

const serverPid = (tmux: TestTmux) => Number(tmux.run("display-message", "-p", "#{pid}"));

describe("a server that was started anew on the same socket", () => {
  it("gets no panes of a team whose caller lived on the one before, and loses none", async () => {
    const dir = temporaryDirectory();
    const tmux = usersServer();
    const notes: string[] = [];
    const executor = executorOf(
      dir,
      { kind: "inside", socket: tmux.socket, pane: "%0" },
      { onNote: (text) => notes.push(text) },
    );
    const a = await start(executor, dir, "a");
    await startAnew(tmux);
    tmux.run("split-window", "-d", "-t", "%0", "/bin/sh", "-c", "exec cat");
    // The user's pane has the id that the teammate's had.
    expect(panesOf(tmux, "#{pane_id}")).toEqual(["%0", a.pane]);
    await waitUntil("the end", async () => (await executor.isActive("a@team")) === "gone", {
      timeoutMs: 20_000,
    });
    expect(await executor.spawn(teammateConfig(dir, "b", ["sleep", "300"]))).toMatchObject({
      ok: false,
      code: "backend-failed",
      reason: expect.stringContaining("was started anew"),
    });
    expect(notes.join("\n")).toContain("has ended");
    await executor.kill("a@team");
    await executor.focus("a@team");
    expect(await executor.adopt(a)).toBe(false);
    expect(panesOf(tmux, "#{pane_id}")).toEqual(["%0", a.pane]);
  });

  it("is not taken for that of TMUX", async () => {
    const dir = temporaryDirectory();
    const tmux = usersServer();
    const before = serverPid(tmux);
    const inside = { socket: tmux.socket, serverPid: before, pane: "%0" };
    const probe = () => probeTmux({ program: tmuxProgram, env: process.env, inside });
    expect(await probe()).toMatchObject({ available: true });
    await startAnew(tmux);
    expect(await probe()).toMatchObject({
      available: false,
      code: "tmux-other-server",
      reason: expect.stringContaining(`pid ${serverPid(tmux)}`),
    });
    const executor = executorOf(dir, { kind: "inside", ...inside });
    expect(await executor.spawn(teammateConfig(dir, "a", ["sleep", "300"]))).toMatchObject({ ok: false });
    expect(panesOf(tmux, "#{pane_id}")).toEqual(["%0"]);
  });
});

describe("a server that does not answer", () => {
  const stopped = (tmux: TestTmux) => {
    const pid = serverPid(tmux);
    process.kill(pid, "SIGSTOP");
    onTestFinished(() => void process.kill(pid, "SIGCONT"));
    return () => process.kill(pid, "SIGCONT");
  };

  it("leaves the processes to tell who lives, and holds nobody up for long", async () => {
    const dir = temporaryDirectory();
    const tmux = usersServer();
    const notes: string[] = [];
    const executor = executorOf(
      dir,
      { kind: "inside", socket: tmux.socket, pane: "%0" },
      { onNote: (text) => notes.push(text) },
    );
    const a = await start(executor, dir, "a");
    const goOn = stopped(tmux);
    expect(await executor.isActive("a@team")).toBe("alive");
    const failed = await executor.spawn(teammateConfig(dir, "b", ["sleep", "300"]));
    expect(failed).toMatchObject({ ok: false, code: "backend-failed" });
    expect(!failed.ok && failed.reason).toContain("did not answer");
    await executor.showState("a@team", "working");
    expect(await executor.capture("a@team", 3)).toBe("");
    expect(await executor.kill("a@team")).toMatchObject({
      ended: expect.arrayContaining([{ pid: expect.any(Number), command: "sleep 300" }]),
      survivors: [],
    });
    expect(notes).toEqual([expect.stringMatching(/^a@team has ended, but its pane %1 .*did not answer/)]);
    expect(a.process && liveness(a.process)).toBe("gone");
    expect(await executor.isActive("a@team")).toBe("gone");
    goOn();
    await executor.kill("a@team");
    expect(panesOf(tmux, "#{pane_id}")).toEqual(["%0"]);
  });

  it("is waited for once, then only briefly until it answers again, unless a call must not be cut short", async () => {
    const tmux = usersServer();
    const client = createTmuxClient({ program: tmuxProgram, socket: tmux.socket, env: process.env });
    const goOn = stopped(tmux);
    const said: string[] = [];
    for (const deadlineMs of [700, undefined, 600, undefined]) {
      const answer = await client.run([["list-panes", "-a"]], deadlineMs);
      said.push(answer.ok ? "ok" : answer.message);
    }
    expect(said.map((text) => /within (\d+) ms/.exec(text)?.[1])).toEqual(["700", "500", "600", "500"]);
    goOn();
    await waitUntil("an answer", async () => (await client.run([["list-panes", "-a"]])).ok, {
      timeoutMs: 20_000,
    });
  });
});
