import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parseEndingHooks } from "../../../backends/tmux/own-server-commands.js";
import { liveness } from "../../../src/util/process-identity.js";
import { waitUntil } from "../../../src/util/wait.js";
import { temporaryDirectory } from "../../helpers/temp.js";
import { tmuxProgram } from "../../helpers/tmux.js";
import { executorOf, start } from "./support.js";

describe("a user's tmux.conf on a server of our own", () => {
  it.each([
    ["keeps servers and dead panes", "set -s exit-empty off\nset -g remain-on-exit on\n"],
    ["ends what nobody looks at", "set -g destroy-unattached on\nset -s exit-unattached on\n"],
    ["counts from elsewhere", "set -g base-index 7\nset -g pane-base-index 3\nset -g renumber-windows on\n"],
    ["names what panes start with", "set -g default-command 'exec false'\nset -g default-shell /bin/false\n"],
    ["opens sessions and windows", "new-session -d -s main\nnew-window -d -t main:\nnew-session -d\n"],
    ["makes tmux crash at new windows", "set -g window-size manual\nset -g default-size 20x5\n"],
    ["is full of errors", "set -g no-such-option 1\nno-such-command\nbind\nset -g mouse maybe\n"],
  ])("that %s has a team start, work and end there, and nothing is left", async (_, config) => {
    const dir = temporaryDirectory();
    fs.writeFileSync(path.join(dir, ".tmux.conf"), config);
    const notes: string[] = [];
    const executor = executorOf(
      dir,
      { kind: "own", runDir: path.join(dir, "t"), leadArgv: ["/bin/sh", "-c", "exec cat"] },
      { env: { ...process.env, HOME: dir }, onNote: (text) => notes.push(text) },
    );
    const { server, pane } = await start(executor, dir, "a");
    await start(executor, dir, "b");
    const shown = execFileSync(
      tmuxProgram,
      [
        "-S",
        server?.socket ?? "",
        "list-panes",
        "-a",
        "-F",
        "#{session_name} #{@troupe_agent}#{@troupe_tag}",
      ],
      { encoding: "utf8" },
    );
    expect(
      shown
        .trimEnd()
        .split("\n")
        .map((line) => line.replace(/@team.*/, "")),
    ).toEqual(["team lead", "team a", "team b"]);
    expect(pane).toMatch(/^%/);
    expect(notes.length > 0).toBe(config.includes("no-such"));
    expect((await executor.kill("a@team")).survivors).toEqual([]);
    expect((await executor.kill("b@team")).survivors).toEqual([]);
    await executor.close();
    await waitUntil("the server's end", () => server && liveness(server.process) === "gone", {
      timeoutMs: 20_000,
    });
    expect(fs.existsSync(server?.socket ?? "")).toBe(false);
  });

  it("with hooks that kill loses those, which is told, and keeps the others", async () => {
    const dir = temporaryDirectory();
    fs.writeFileSync(
      path.join(dir, ".tmux.conf"),
      [
        "set-hook -g client-detached 'kill-server'",
        "set-hook -g after-new-window 'set -g @seen 1'",
        "set-hook -ag after-new-window 'kill-window'",
        "set-hook -g after-split-window 'kill-pane'",
        "set-hook -g pane-died 'respawn-pane'",
        "set-hook client-attached 'run-shell \"tmux kill-session\"'",
      ].join("\n"),
    );
    const notes: string[] = [];
    const executor = executorOf(
      dir,
      { kind: "own", runDir: path.join(dir, "t") },
      { env: { ...process.env, HOME: dir }, onNote: (text) => notes.push(text) },
    );
    const { server } = await start(executor, dir, "a");
    await start(executor, dir, "b");
    expect(await Promise.all(["a", "b"].map((name) => executor.isActive(`${name}@team`)))).toEqual([
      "alive",
      "alive",
    ]);
    const run = (...args: string[]) =>
      execFileSync(tmuxProgram, ["-S", server?.socket ?? "", ...args], { encoding: "utf8" });
    expect(run("show-options", "-g", "-v", "@seen")).toBe("1\n");
    expect(notes.map((note) => /the hook (\S+) is left out/.exec(note)?.[1]).sort()).toEqual([
      "after-new-window[1]",
      "after-split-window[0]",
      "client-attached[0]",
      "client-detached[0]",
      "pane-died[0]",
    ]);
    const attach = executor.attachCommand() ?? [];
    // `script` gives the viewer a terminal; it leaves at once.
    execFileSync(
      "script",
      ["-qec", `${attach.map((word) => `'${word}'`).join(" ")} ';' detach-client`, "/dev/null"],
      { env: { PATH: process.env["PATH"], TERM: "xterm" } },
    );
    expect(await executor.isActive("a@team")).toBe("alive");
  });

  it("is not read where the team says so", async () => {
    const dir = temporaryDirectory();
    fs.writeFileSync(path.join(dir, ".tmux.conf"), "set -g @read 1\n");
    const place = { kind: "own", runDir: path.join(dir, "t"), userConfig: false } as const;
    const executor = executorOf(dir, place, { env: { ...process.env, HOME: dir } });
    const { server } = await start(executor, dir, "a");
    const args = ["-S", server?.socket ?? "", "show-options", "-g", "-v", "-q", "@read"];
    expect(execFileSync(tmuxProgram, args, { encoding: "utf8" })).toBe("");
  });

  it("has its hooks told by what they do", () => {
    const text = [
      "after-bind-key",
      "client-detached[0] kill-server",
      "pane-died[12] if-shell true { respawn-pane -k }",
      "after-new-window[1] rename-window skill",
      'pane-exited[3] run-shell "tmux killp"',
    ].join("\n");
    expect(parseEndingHooks(text).map(({ name }) => name)).toEqual([
      "client-detached[0]",
      "pane-died[12]",
      "pane-exited[3]",
    ]);
  });
});
