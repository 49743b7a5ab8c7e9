import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { acquireLock } from "../../../src/util/lock.js";
import { liveness } from "../../../src/util/process-identity.js";
import { temporaryDirectory } from "../../helpers/temp.js";
import { executorOf, panesOf, start, usersServer } from "./support.js";

describe("what a person changes between starts", () => {
  function place(config = "") {
    const dir = temporaryDirectory();
    const tmux = usersServer(config);
    const notes: string[] = [];
    const where = { kind: "inside", socket: tmux.socket, pane: "%0" } as const;
    const executor = executorOf(dir, where, { onNote: (text) => notes.push(text) });
    return { dir, tmux, executor, notes };
  }

  it("is seen: a window with a pane of theirs is left alone from then on", async () => {
    const { dir, tmux, executor } = place();
    await start(executor, dir, "a");
    tmux.run("split-window", "-d", "-v", "-t", "%0", "exec cat");
    const shape = () =>
      panesOf(tmux, "#{window_id} #{pane_id} #{pane_width}x#{pane_height}").filter((row) =>
        row.startsWith("@0"),
      );
    const before = shape();
    const b = await start(executor, dir, "b");
    expect(b.window).not.toBe("@0");
    expect(shape()).toEqual(before);
  });

  it("is kept: the border of a window that they have set anew", async () => {
    const { dir, tmux, executor } = place();
    await start(executor, dir, "a");
    tmux.run("set-option", "-w", "-t", "@0", "pane-border-status", "bottom");
    await executor.kill("a@team");
    expect(tmux.run("show-options", "-w", "-v", "-t", "@0", "pane-border-status")).toBe("bottom");
    expect(tmux.run("show-options", "-w", "-q", "-v", "-t", "@0", "@troupe_restore")).toBe("");
  });

  it("is kept: a zoomed pane in a window that has no room for another", async () => {
    const { dir, tmux, executor } = place();
    // Room for many by our count, which looks at the rows; tmux refuses the next split across it.
    tmux.run("resize-window", "-t", "@0", "-x", "3", "-y", "50");
    await start(executor, dir, "a");
    tmux.run("resize-pane", "-Z", "-t", "%0");
    const b = await start(executor, dir, "b");
    expect(b.window).not.toBe("@0");
    expect(panesOf(tmux, "#{pane_id} #{window_zoomed_flag}")[0]).toBe("%0 1");
    expect(tmux.run("show-options", "-w", "-t", "@0")).not.toContain("@troupe_zoomed");
  });

  it("does not lose a report: a lock that somebody holds keeps the pane alone, and that is told", {
    timeout: 120_000,
  }, async () => {
    const { dir, tmux, executor, notes } = place();
    const a = await start(executor, dir, "a");
    const lock = await acquireLock(path.join(dir, "lock"), 20_000);
    const report = await executor.kill("a@team");
    expect(report.survivors).toEqual([]);
    expect(a.process && liveness(a.process)).toBe("gone");
    expect(notes.join()).toContain(a.pane);
    lock.release();
    await executor.kill("a@team");
    expect(panesOf(tmux, "#{pane_id}")).toEqual(["%0"]);
  });

  it("is mended: a server of our own whose socket was removed makes it again, and no second one is started", async () => {
    const dir = temporaryDirectory();
    const executor = executorOf(dir, { kind: "own", runDir: path.join(dir, "t"), userConfig: false });
    const a = await start(executor, dir, "a");
    fs.rmSync(a.server?.socket ?? "");
    const b = await start(executor, dir, "b");
    expect(b.server?.process).toEqual(a.server?.process);
    fs.rmSync(a.server?.socket ?? "");
    await Promise.all(["a", "b"].map((name) => executor.kill(`${name}@team`)));
    await executor.close();
    expect(a.server && liveness(a.server.process)).toBe("gone");
  });

  it("is told: a user's server whose socket was removed keeps its panes until it has one again", async () => {
    const { dir, tmux, executor, notes } = place();
    const a = await start(executor, dir, "a");
    fs.rmSync(tmux.socket);
    expect((await executor.kill("a@team")).survivors).toEqual([]);
    expect(notes.join()).toContain("may be open still");
    process.kill(a.server?.process.pid ?? 0, "SIGUSR1");
    await expect.poll(() => fs.existsSync(tmux.socket)).toBe(true);
    await executor.kill("a@team");
    expect(panesOf(tmux, "#{pane_id}")).toEqual(["%0"]);
  });
});
