import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { liveness } from "../../../src/util/process-identity.js";
import { waitUntil } from "../../../src/util/wait.js";
import { temporaryDirectory } from "../../helpers/temp.js";
import { tmuxProgram } from "../../helpers/tmux.js";
import { executorOf, panesOf, start, usersServer } from "./support.js";

/** A shell that marks that it was started and never gets ready. */
function hangingShell(dir: string): { readonly file: string; readonly mark: string } {
  const file = path.join(dir, "shell");
  const mark = path.join(dir, "shell-was-started");
  fs.writeFileSync(file, `#!/bin/sh\necho >'${mark}'\nexec sleep 300\n`, { mode: 0o755 });
  return { file, mark };
}

describe("a user's shell", () => {
  it("has no part in a start on the user's server", async () => {
    const dir = temporaryDirectory();
    const { file, mark } = hangingShell(dir);
    const tmux = usersServer(`set -g default-shell ${file}\nset -g default-command ${file}\n`);
    const executor = executorOf(dir, { kind: "inside", socket: tmux.socket, pane: "%0" });
    await start(executor, dir, "a");
    await start(executor, dir, "b", { launch: { kind: "argv", argv: ["/bin/cat"] } });
    expect(panesOf(tmux, "#{@troupe_agent}")).toEqual(["", "a@team", "b@team"]);
    expect(fs.existsSync(mark)).toBe(false);
  });

  it("has none on a server of our own, by SHELL or by configuration", async () => {
    const dir = temporaryDirectory();
    const { file, mark } = hangingShell(dir);
    fs.writeFileSync(
      path.join(dir, ".tmux.conf"),
      `set -g default-shell ${file}\nset -g default-command ${file}\n`,
    );
    const env = { ...process.env, HOME: dir, SHELL: file };
    const executor = executorOf(
      dir,
      { kind: "own", runDir: path.join(dir, "t"), leadArgv: ["cat"] },
      { env },
    );
    await start(executor, dir, "a");
    expect(await executor.isActive("a@team")).toBe("alive");
    expect(fs.existsSync(mark)).toBe(false);
  });
});

describe("every shell", () => {
  it.each([
    ["fish", "/usr/bin/fish"],
    ["zsh", "/usr/bin/zsh"],
    ["dash", "/bin/dash"],
    ["bash", "/bin/bash"],
    ["nologin", "/usr/sbin/nologin"],
    ["nothing", ""],
  ])("makes no difference, as SHELL and as the user's default: %s", async (_, shell) => {
    const dir = temporaryDirectory();
    // Start files that sleep, read what was typed and throw the rest away; none of them is ever run.
    for (const name of [".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".kshrc"])
      fs.writeFileSync(path.join(dir, name), `echo >'${dir}/read'\nsleep 60\nread line\nstty -icanon\n`);
    fs.mkdirSync(path.join(dir, ".config", "fish"), { recursive: true });
    fs.writeFileSync(
      path.join(dir, ".config", "fish", "config.fish"),
      `touch '${dir}/read'; read; sleep 60\n`,
    );
    fs.writeFileSync(path.join(dir, ".tmux.conf"), shell === "" ? "" : `set -g default-shell ${shell}\n`);
    const env = {
      ...process.env,
      HOME: dir,
      SHELL: shell,
      ENV: path.join(dir, ".profile"),
      BASH_ENV: path.join(dir, ".bashrc"),
    };
    const executor = executorOf(
      dir,
      { kind: "own", runDir: path.join(dir, "t"), leadArgv: ["cat"] },
      { env },
    );
    const started = await start(executor, dir, "a", {
      launch: { kind: "argv", argv: ["/bin/sh", "-c", 'echo "it runs [$SHELL]"; exec sleep 300'] },
      env: { PATH: process.env["PATH"] ?? "", HOME: dir, SHELL: shell },
    });
    expect(started.pane).toMatch(/^%/);
    await waitUntil("its words", async () => (await executor.capture("a@team", 3)) === `it runs [${shell}]`, {
      timeoutMs: 20_000,
    });
    expect(fs.existsSync(path.join(dir, "read"))).toBe(false);
  });
});

describe("a user who went elsewhere", () => {
  it("stays there: panes open beside the caller's", async () => {
    const dir = temporaryDirectory();
    const tmux = usersServer();
    tmux.run("new-window", "-t", "work:", "cat ; :");
    tmux.run("new-session", "-d", "-s", "other", "cat ; :");
    tmux.run("split-window", "-t", "other:", "cat ; :");
    const active = () =>
      panesOf(tmux, "#{session_name} #{window_id} #{pane_id} #{window_active}#{pane_active}").filter((row) =>
        row.endsWith("1"),
      );
    const before = active();
    const executor = executorOf(dir, { kind: "inside", socket: tmux.socket, pane: "%0" });
    await start(executor, dir, "a");
    await start(executor, dir, "b");
    expect(panesOf(tmux, "#{window_id} #{@troupe_agent}").filter((row) => row.endsWith("@team"))).toEqual([
      "@0 a@team",
      "@0 b@team",
    ]);
    expect(active()).toEqual(before);
  });

  it("may close and renumber windows meanwhile", async () => {
    const dir = temporaryDirectory();
    const tmux = usersServer("set -g renumber-windows on\nset -g base-index 3\n");
    const pane = tmux.run("new-window", "-d", "-t", "work:", "-P", "-F", "#{pane_id}", "cat ; :");
    tmux.run("new-window", "-d", "-t", "work:", "cat ; :");
    const executor = executorOf(dir, { kind: "inside", socket: tmux.socket, pane });
    const a = await start(executor, dir, "a");
    tmux.run("kill-window", "-t", "@0");
    // What was number 4 is 3 now, and another window is number 4.
    expect(panesOf(tmux, "#{window_id} #{window_index}")).toEqual(["@1 3", "@1 3", "@2 4"]);
    await start(executor, dir, "b");
    expect(panesOf(tmux, "#{window_id}")).toEqual(["@1", "@1", "@1", "@2"]);
    expect((await executor.kill("a@team")).survivors).toEqual([]);
    expect(panesOf(tmux, "#{pane_id}")).not.toContain(a.pane);
  });

  it("may look on by control mode, as iTerm2 does", async () => {
    const dir = temporaryDirectory();
    const tmux = usersServer();
    const client = spawn(tmuxProgram, ["-S", tmux.socket, "-C", "attach-session", "-t", "work"], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const ended = once(client, "close");
    onTestFinished(async () => {
      client.stdin.end();
      await ended;
    });
    let news = "";
    client.stdout.setEncoding("utf8").on("data", (text: string) => {
      news += text;
    });
    await waitUntil("the client", () => tmux.run("list-clients").includes("control-mode"), {
      timeoutMs: 20_000,
    });
    const executor = executorOf(dir, { kind: "inside", socket: tmux.socket, pane: "%0" });
    const a = await start(executor, dir, "a");
    await start(executor, dir, "b");
    await waitUntil("the news of the panes", () => news.includes("%layout-change @0"), { timeoutMs: 20_000 });
    expect(panesOf(tmux, "#{window_id}")).toEqual(["@0", "@0", "@0"]);
    await executor.kill("a@team");
    expect(panesOf(tmux, "#{pane_id}")).not.toContain(a.pane);
    expect(client.exitCode).toBeNull();
  });
});

describe("a server of our own", () => {
  it("has its size whatever COLUMNS and LINES say", async () => {
    const dir = temporaryDirectory();
    const env = { ...process.env, HOME: dir, COLUMNS: "0", LINES: "0" };
    const executor = executorOf(
      dir,
      { kind: "own", runDir: path.join(dir, "t"), userConfig: false },
      { env },
    );
    const ref = await start(executor, dir, "a");
    const size = execFileSync(
      tmuxProgram,
      ["-S", ref.server?.socket ?? "", "list-panes", "-a", "-F", "#{pane_width}x#{pane_height}"],
      { encoding: "utf8" },
    );
    const [width = 0, height = 0] = size.trim().split("x").map(Number);
    expect(width).toBeGreaterThan(200);
    expect(height).toBeGreaterThan(50);
  });

  it("is done without where somebody removed its socket: teammates go on, end, and others start", async () => {
    const dir = temporaryDirectory();
    const executor = executorOf(dir, { kind: "own", runDir: path.join(dir, "t"), userConfig: false });
    const { server } = await start(executor, dir, "a");
    onTestFinished(() => {
      if (server !== undefined && liveness(server.process) === "alive") process.kill(server.process.pid);
    });
    fs.rmSync(server?.socket ?? "");
    expect(await executor.isActive("a@team")).toBe("alive");
    await start(executor, dir, "b");
    expect(await executor.kill("a@team")).toMatchObject({
      ended: expect.arrayContaining([{ pid: expect.any(Number), command: "sleep 300" }]),
      survivors: [],
    });
    expect(await executor.isActive("b@team")).toBe("alive");
  });
});
