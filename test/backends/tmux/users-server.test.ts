import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readExit } from "../../../backends/records.js";
import { createTmuxExecutor, type TmuxExecutor } from "../../../backends/tmux/executor.js";
import { waitUntil } from "../../../src/util/wait.js";
import { teammateConfig } from "../../helpers/teammate.js";
import { startTmux, type TestTmux, tmuxProgram } from "../../helpers/tmux.js";

const unusual = `
set -g base-index 1
setw -g pane-base-index 1
set -g prefix C-a
unbind C-b
set -g status-left "[mine]"
set -g remain-on-exit off
set -g renumber-windows on
set -g destroy-unattached off
set -g set-titles on
bind r display-message mine
set-hook -g after-select-pane 'set -g @selected 1'
`;

describe("a user's tmux server", () => {
  let dir: string;
  let tmux: TestTmux;
  let executor: TmuxExecutor;

  const make = (pane = "%0", program = tmuxProgram) =>
    createTmuxExecutor({
      place: { kind: "inside", socket: tmux.socket, pane },
      team: "team",
      teamId: dir,
      env: process.env,
      deliver: async () => undefined,
      lockDir: path.join(dir, "lock"),
      tmux: program,
      graceMs: 400,
    });

  beforeEach(() => {
    dir = fs.mkdtempSync(path.join(os.tmpdir(), "troupe-"));
    tmux = startTmux(unusual);
    tmux.run("rename-window", "-t", "@0", "mine");
    executor = make();
  });

  afterEach(async () => {
    await Promise.all(["a", "b", "c", "d"].map((name) => executor.kill(`${name}@team`)));
    tmux.stop();
    fs.rmSync(dir, { recursive: true, force: true });
  });

  const start = async (name: string, argv: readonly string[] = ["sleep", "300"], more = {}) => {
    const result = await executor.spawn(teammateConfig(dir, name, argv, more));
    if (!result.ok) throw new Error(`${result.code}: ${result.reason}\n${result.screen}`);
    return result.ref;
  };
  const panes = (format: string) => tmux.run("list-panes", "-a", "-F", format).split("\n");

  /** Everything that the user could miss. */
  const snapshot = () => ({
    options: tmux.run("show-options", "-g"),
    server: tmux.run("show-options", "-s").replace(/^buffer.*$/gm, ""),
    windows: tmux.run("show-options", "-g", "-w"),
    keys: tmux.run("list-keys"),
    hooks: [["-g"], ["-g", "-w"], ["-t", "work"]].map((scope) => tmux.run("show-hooks", ...scope)),
    environment: [["-g"], ["-t", "work"]].map((scope) => tmux.run("show-environment", ...scope)),
    session: tmux.run("show-options", "-t", "work"),
    buffers: tmux.run("list-buffers"),
    sessions: tmux.run("list-sessions", "-F", "#{session_id} #{session_name} #{session_windows}"),
    panes: panes(
      "#{window_id} #{window_index} #{window_name} #{window_active} #{pane_id} #{pane_index} #{pane_active} #{pane_last} #{pane_width}x#{pane_height} #{pane_title} #{window_zoomed_flag}",
    ),
    own: panes("#{window_id}").map((window) => tmux.run("show-options", "-w", "-t", window)),
    ownPanes: panes("#{pane_id}").map((pane) => tmux.run("show-options", "-p", "-t", pane)),
  });

  it("is as it was before, with other panes beside the caller's", async () => {
    tmux.run("set-option", "-w", "-u", "-t", "@0", "automatic-rename");
    tmux.run("split-window", "-t", "%0", "cat ; :");
    tmux.run("new-window", "-n", "other", "cat ; :");
    tmux.run("select-window", "-t", "%0");
    tmux.run("select-pane", "-t", "%0");
    // A window without a name of its own takes its program's, up to half a second later.
    await waitUntil("the window is named", () => panes("#{window_name}").includes("cat"), {
      timeoutMs: 20_000,
    });
    const before = snapshot();
    await Promise.all([start("a"), start("b")]);
    await executor.showState("a@team", "working");
    expect(panes("#{pane_id}")).toHaveLength(5);
    expect(panes("#{window_id}").filter((window) => window === "@0")).toHaveLength(2);
    expect(panes("#{pane_id} #{pane_active}#{window_active}")).toContain("%0 11");
    await Promise.all([executor.kill("a@team"), executor.kill("b@team")]);
    await executor.close();
    expect(snapshot()).toEqual(before);
  });

  it.each(["", "bottom"])(
    "is as it was before, when the caller's window was split (own border: %j)",
    async (border) => {
      if (border !== "") tmux.run("set-option", "-w", "-t", "@0", "pane-border-status", border);
      const before = snapshot();
      await start("a");
      await start("b");
      expect(panes("#{window_id}")).toEqual(["@0", "@0", "@0"]);
      expect(panes("#{pane_id} #{pane_left} #{pane_active}")[0]).toBe("%0 0 1");
      expect(tmux.run("show-options", "-w", "-v", "-t", "@0", "pane-border-status")).toBe("top");
      // The lead keeps its share of the width.
      expect(Number(panes("#{pane_width}")[0])).toBe(80);
      await executor.kill("a@team");
      expect(Number(panes("#{pane_width}")[0])).toBe(80);
      await executor.kill("b@team");
      expect(snapshot()).toEqual(before);
    },
  );

  it("is as it was before after a start that failed", async () => {
    const before = snapshot();
    const result = await executor.spawn(teammateConfig(dir, "a", ["/bin/sh", "-c", "exit 9"]));
    expect(result).toMatchObject({ ok: false, code: "exited" });
    expect(snapshot()).toEqual(before);
  });

  it("is asked what is there, and once for all that start at once", async () => {
    const log = path.join(dir, "calls");
    const program = path.join(dir, "tmux");
    const real = execFileSync("/bin/sh", ["-c", `command -v ${tmuxProgram}`], { encoding: "utf8" }).trim();
    fs.writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$6" >>'${log}'\nexec '${real}' "$@"\n`, {
      mode: 0o755,
    });
    executor = make("%0", program);
    await start("a");
    fs.rmSync(log);
    await start("b");
    expect(fs.readFileSync(log, "utf8").trim().split("\n")).toEqual(["list-panes", "set-option"]);
  });

  it("shows who works in a pane", async () => {
    const ref = await start("a", ["sleep", "300"], { name: "späher", colour: 208 });
    const shown = tmux.run(
      "list-panes",
      "-t",
      ref.pane ?? "",
      "-f",
      `#{==:#{pane_id},${ref.pane}}`,
      "-F",
      "#{pane_title}|#{E:pane-border-format}|#{@troupe_agent}|#{@troupe_team}",
    );
    expect(shown).toBe("späher|#[fg=colour208] späher #[default]|a@team|team");
  });

  it("opens another window when one is full, and fills a gap before the next", async () => {
    const placement = { layout: "tiled", leadWidth: 40, maxPanesPerWindow: 3 } as const;
    for (const name of ["a", "b", "c"]) await start(name, ["sleep", "300"], { placement });
    expect(panes("#{window_id}")).toEqual(["@0", "@0", "@0", "@1"]);
    await executor.kill("a@team");
    await start("d", ["sleep", "300"], { placement });
    expect(panes("#{window_id}")).toEqual(["@0", "@0", "@0", "@1"]);
  });

  it("gives every teammate a window of its own when asked to", async () => {
    const placement = { layout: "windows", leadWidth: 40, maxPanesPerWindow: 9 } as const;
    await start("a", ["sleep", "300"], { placement });
    await start("b", ["sleep", "300"], { placement });
    expect(panes("#{window_id} #{window_name}").slice(1)).toEqual(["@1 team", "@2 team"]);
  });

  it("opens another window where there is no room, whatever the setting says", async () => {
    tmux.run("set-option", "-g", "window-size", "manual");
    tmux.run("resize-window", "-t", "@0", "-x", "40", "-y", "5");
    tmux.run("set-option", "-g", "window-size", "latest");
    await start("a");
    await start("b");
    await start("c");
    expect(panes("#{window_id}").filter((window) => window === "@0").length).toBeLessThanOrEqual(2);
  });

  it("leaves a window alone in which the user opened a pane meanwhile", async () => {
    await start("a");
    tmux.run("split-window", "-d", "-t", "@0", "cat ; :");
    const mine = panes("#{window_id}").filter((window) => window === "@0").length;
    await start("b");
    await start("c");
    // The first of them may still be put there: it is only seen then that somebody else is in the window.
    expect(panes("#{window_id}").filter((window) => window === "@0").length).toBeLessThanOrEqual(mine + 1);
    expect(panes("#{window_id}")).toContain("@1");
  });

  it("keeps a zoomed pane zoomed", async () => {
    await start("a");
    tmux.run("resize-pane", "-Z", "-t", "%0");
    await start("b");
    expect(panes("#{window_zoomed_flag}")[0]).toBe("1");
    await executor.kill("b@team");
    expect(panes("#{window_zoomed_flag}")[0]).toBe("1");
  });

  it("goes on when the user closes a teammate's pane, or the caller's own", async () => {
    const a = await start("a");
    tmux.run("kill-pane", "-t", a.pane ?? "");
    await waitUntil("the end", async () => (await executor.isActive("a@team")) === "gone", {
      timeoutMs: 20_000,
    });
    expect(readExit(a.runDir)).toMatchObject({ exitCode: null, signal: "SIGHUP" });
    await start("a");
    tmux.run("kill-pane", "-t", "%0");
    await start("b");
    expect((await executor.kill("a@team")).survivors).toEqual([]);
    expect(await executor.isActive("b@team")).toBe("alive");
  });

  it("keeps the pane of a teammate that has ended, with what it showed, until that is ended", async () => {
    const a = await start("a", ["/bin/sh", "-c", "echo my result"]);
    await waitUntil("the end", async () => (await executor.isActive("a@team")) === "gone", {
      timeoutMs: 20_000,
    });
    await waitUntil("the dead pane", () => panes("#{pane_id} #{pane_dead}").includes(`${a.pane} 1`), {
      timeoutMs: 20_000,
    });
    fs.rmSync(path.join(a.runDir, "output.log"));
    expect(await executor.capture("a@team", 3)).toBe("my result");
    expect(await make().adopt(a)).toBe(false);
    await executor.kill("a@team");
    expect(panes("#{pane_id}")).toEqual(["%0"]);
  });

  it("closes no pane that is not its own", async () => {
    const a = await start("a");
    tmux.run("set-option", "-p", "-t", a.pane ?? "", "@troupe_tag", "somebody");
    await executor.kill("a@team");
    expect(panes("#{pane_id}")).toContain(a.pane);
  });

  it("finds its way where the paths are awkward, and logs there", async () => {
    const odd = path.join(dir, "100%d #{pid} #(touch pwned) it's;");
    fs.mkdirSync(odd);
    const ref = await start("a", ["/bin/sh", "-c", "echo heard; exec sleep 300"], {
      runDir: fs.mkdtempSync(path.join(odd, "r")),
      cwd: odd,
      team: "#{pid}",
    });
    const log = path.join(ref.runDir, "output.log");
    await waitUntil("the log", () => fs.existsSync(log) && fs.readFileSync(log, "utf8").includes("heard"), {
      timeoutMs: 20_000,
    });
    expect(await executor.capture("a@team", 5)).toBe("heard");
  });

  it("brings a teammate's pane before the user", async () => {
    await start("a", ["sleep", "300"], {
      placement: { layout: "windows", leadWidth: 40, maxPanesPerWindow: 9 },
    });
    expect(panes("#{pane_id} #{window_active}")).toContain("%0 1");
    await executor.focus("a@team");
    expect(panes("#{pane_id} #{window_active}")).toContain("%0 0");
  });

  it("ends teammates when the server is gone, and says why no more can be started", async () => {
    const ref = await start("a", ["/bin/sh", "-c", "trap '' HUP TERM; while :; do sleep 1; done"]);
    tmux.run("kill-server");
    expect(await executor.isActive("a@team")).toBe("alive");
    expect((await executor.kill("a@team")).survivors).toEqual([]);
    expect(await make().adopt(ref)).toBe(false);
    expect(await executor.spawn(teammateConfig(dir, "b", ["sleep", "1"]))).toMatchObject({
      ok: false,
      code: "backend-failed",
    });
    expect(await executor.isAvailable()).toMatchObject({ available: false, code: "tmux-no-server" });
  });

  it("says when the caller's pane is not there", async () => {
    const stale = make("%99");
    expect(await stale.isAvailable()).toMatchObject({ available: false, code: "tmux-no-target" });
    const result = await stale.spawn(teammateConfig(dir, "a", ["sleep", "1"]));
    expect(result).toMatchObject({ ok: false, code: "backend-failed" });
    expect(panes("#{pane_id}")).toEqual(["%0"]);
  });

  it("is shared by two teams without mixing their panes", async () => {
    const other = createTmuxExecutor({
      place: { kind: "inside", socket: tmux.socket, pane: "%0" },
      team: "other",
      teamId: `${dir}/other`,
      env: process.env,
      deliver: async () => undefined,
      lockDir: path.join(dir, "lock"),
      tmux: tmuxProgram,
      graceMs: 400,
    });
    const before = snapshot();
    await start("a");
    const result = await other.spawn(teammateConfig(dir, "x", ["sleep", "300"]));
    expect(result.ok && result.ref.window).toBe("@1");
    await executor.kill("a@team");
    expect((await other.kill("x@team")).survivors).toEqual([]);
    expect(snapshot()).toEqual(before);
  });
});
