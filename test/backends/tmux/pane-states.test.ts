import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createTmuxClient } from "../../../backends/tmux/client.js";
import { createPaneStates } from "../../../backends/tmux/pane-states.js";
import { waitUntil } from "../../../src/util/wait.js";
import { temporaryDirectory } from "../../helpers/temp.js";
import { tmuxProgram } from "../../helpers/tmux.js";
import { executorOf, panesOf, start, startProgram, usersServer } from "./support.js";

describe("a pane's border", () => {
  const setUp = (program?: string) => {
    const dir = temporaryDirectory();
    const tmux = usersServer();
    const place = { kind: "inside", socket: tmux.socket, pane: "%0" } as const;
    const executor = executorOf(dir, place, program === undefined ? {} : { tmux: program });
    const borders = () => panesOf(tmux, "#{E:pane-border-format}").slice(1);
    return { dir, tmux, executor, borders };
  };

  it("tells the name and the state, the one told while it started too", async () => {
    const { dir, executor, borders } = setUp();
    await executor.showState("a@team", "of an earlier one");
    const started = start(executor, dir, "a");
    await executor.showState("a@team", "starting");
    await started;
    await waitUntil("the first state", () => borders()[0]?.includes("starting"), { timeoutMs: 20_000 });
    expect(borders()).toEqual(["#[fg=colour33] a (starting) #[default]"]);
    await Promise.all(["working", "idle", "idle: waiting-mail"].map((s) => executor.showState("a@team", s)));
    expect(borders()).toEqual(["#[fg=colour33] a (idle: waiting-mail) #[default]"]);
  });

  it("tells how one ended that has, and of a new start nothing old", async () => {
    const { dir, executor, borders } = setUp();
    await startProgram(executor, dir, "a", "/bin/sh", "-c", "exit 0");
    await waitUntil("the end", async () => (await executor.isActive("a@team")) === "gone", {
      timeoutMs: 20_000,
    });
    await executor.showState("a@team", "ended: exit code 0");
    expect(borders()).toEqual(["#[fg=colour33] a (ended: exit code 0) #[default]"]);
    await start(executor, dir, "a");
    expect(borders()).toEqual(["#[fg=colour33] a #[default]"]);
  });

  it("takes what looks like tmux's own language for text", async () => {
    const { dir, tmux, executor } = setUp();
    await start(executor, dir, "a");
    await executor.showState("a@team", "#[bold]it's \"#{pid}\" '; kill-server");
    expect(panesOf(tmux, "#{@troupe_state}")[1]).toBe('[bold]its "{pid}" ; kill-server');
    await executor.showState("a@team", "$HOME ~ %1 {a} \\ ,} \u001b[0m;");
    expect(panesOf(tmux, "#{@troupe_state}")[1]).toMatch(/^\$HOME ~ %1 \{a\} \\ ,\} /);
    expect(panesOf(tmux, "#{pane_id}")).toHaveLength(2);
  });

  it("costs one call for all that changes at once, and none where nothing changed or there is no pane", async () => {
    const { program, calls } = counting();
    const { dir, tmux, executor } = setUp(program);
    const refs = [await start(executor, dir, "a"), await start(executor, dir, "b")];
    const states = createPaneStates(
      createTmuxClient({ program, socket: tmux.socket, env: process.env }),
      (agentId) => refs.find((ref) => ref.agentId === agentId),
    );
    fs.rmSync(calls);
    await states.set("nobody@team", "working");
    expect(fs.existsSync(calls)).toBe(false);
    const told = ["a@team", "b@team", "a@team", "b@team"].map((id, n) => states.set(id, `state ${n}`));
    await Promise.all(told);
    await states.set("b@team", "state 3");
    expect(fs.readFileSync(calls, "utf8")).toBe("call\n");
    expect(panesOf(tmux, "#{@troupe_state}")).toEqual(["", "state 2", "state 3"]);
    await executor.kill("a@team");
    fs.rmSync(calls);
    await executor.showState("a@team", "ended");
    expect(fs.existsSync(calls)).toBe(false);
  });

  it("is told of all the same where another pane that changed with it has gone", async () => {
    const { dir, tmux, executor } = setUp();
    const { pane = "" } = await start(executor, dir, "a");
    await start(executor, dir, "b");
    tmux.run("kill-pane", "-t", pane);
    await Promise.all(["a@team", "b@team"].map((id) => executor.showState(id, "working")));
    expect(panesOf(tmux, "#{@troupe_state}")).toEqual(["", "working"]);
  });

  it("is left alone where the pane is somebody else's by now", async () => {
    const { dir, tmux, executor } = setUp();
    const { pane = "" } = await start(executor, dir, "a");
    tmux.run("set-option", "-p", "-t", pane, "@troupe_tag", "somebody");
    await executor.showState("a@team", "working");
    expect(panesOf(tmux, "state:#{@troupe_state}")).toEqual(["state:", "state:"]);
  });

  it("is not asked for on a server that has ended, which is told once", async () => {
    const dir = temporaryDirectory();
    const tmux = usersServer();
    const notes: string[] = [];
    const executor = executorOf(
      dir,
      { kind: "inside", socket: tmux.socket, pane: "%0" },
      { onNote: (text) => notes.push(text) },
    );
    const { server } = await start(executor, dir, "a");
    await start(executor, dir, "b");
    tmux.run("kill-server");
    await executor.showState("a@team", "ended");
    await executor.showState("b@team", "ended");
    expect(notes).toEqual([
      `the tmux server on ${tmux.socket} (pid ${server?.process.pid}) has ended, and the team's panes with it`,
    ]);
  });
});

/** A tmux that writes a line for every call of it. */
function counting(): { program: string; calls: string } {
  const dir = temporaryDirectory();
  const [program, calls] = [path.join(dir, "tmux"), path.join(dir, "calls")];
  const real = execFileSync("/bin/sh", ["-c", `command -v ${tmuxProgram}`], { encoding: "utf8" }).trim();
  fs.writeFileSync(program, `#!/bin/sh\necho call >>'${calls}'\nexec '${real}' "$@"\n`, { mode: 0o755 });
  return { program, calls };
}
