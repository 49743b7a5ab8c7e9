import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  createTmuxExecutor,
  type TmuxExecutor,
  type TmuxExecutorOptions,
} from "../../../backends/tmux/executor.js";
import { sessionName } from "../../../backends/tmux/own-place.js";
import { identityOf, liveness } from "../../../src/util/process-identity.js";
import { waitUntil } from "../../../src/util/wait.js";
import { teammateConfig } from "../../helpers/teammate.js";
import { tmuxProgram } from "../../helpers/tmux.js";

describe("a tmux server of our own", () => {
  let dir: string;
  let made: TmuxExecutor[];
  let notes: string[];

  beforeEach(() => {
    dir = fs.mkdtempSync(path.join(os.tmpdir(), "troupe-"));
    made = [];
    notes = [];
  });

  afterEach(async () => {
    for (const executor of made) {
      await Promise.all(["a", "b"].map((name) => executor.kill(`${name}@team`)));
      await executor.close();
    }
    if (fs.existsSync(socket())) tmux("kill-server");
    fs.rmSync(dir, { recursive: true, force: true });
  });

  const socket = () => path.join(dir, "t", "tmux.sock");
  const tmux = (...args: string[]) =>
    execFileSync(tmuxProgram, ["-u", "-S", socket(), ...args], { encoding: "utf8" }).trimEnd();
  const panes = (format: string) => tmux("list-panes", "-a", "-F", format).split("\n");

  function make(
    place: Partial<Extract<TmuxExecutorOptions["place"], { kind: "own" }>> = {},
    more: Partial<TmuxExecutorOptions> = {},
  ): TmuxExecutor {
    const executor = createTmuxExecutor({
      place: { kind: "own", runDir: path.join(dir, "t"), userConfig: false, ...place },
      team: "Über Team.1",
      teamId: dir,
      env: { ...process.env, HOME: dir, TERM: "xterm" },
      deliver: async () => undefined,
      lockDir: path.join(dir, "lock"),
      tmux: tmuxProgram,
      onNote: (text) => notes.push(text),
      graceMs: 400,
      ...more,
    });
    made.push(executor);
    return executor;
  }

  async function start(executor: TmuxExecutor, name: string, argv: readonly string[] = ["sleep", "300"]) {
    const result = await executor.spawn(teammateConfig(dir, name, argv));
    if (!result.ok) throw new Error(`${result.code}: ${result.reason}\n${result.screen}`);
    return result.ref;
  }

  it("starts with the first teammate, holds only teammates, and leaves nothing", async () => {
    const executor = make();
    const ref = await start(executor, "a");
    expect(panes("#{session_name} #{@troupe_agent} #{window_width}x#{window_height}")).toEqual([
      "ber-team-1 a@team 220x60",
    ]);
    await executor.kill("a@team");
    await executor.close();
    expect(fs.existsSync(socket())).toBe(false);
    expect(ref.server && liveness(ref.server.process)).toBe("gone");
  });

  it("starts again for a teammate that comes back after the last one has gone", async () => {
    const executor = make();
    await start(executor, "a");
    await executor.kill("a@team");
    await start(executor, "a");
    expect(panes("#{@troupe_agent}")).toEqual(["a@team"]);
  });

  it("shows the lead's view at the left, with the teammates beside it", async () => {
    const executor = make(
      { leadArgv: ["/bin/sh", "-c", "echo view of $GREETING; exec cat"] },
      { env: { ...process.env, HOME: dir, GREETING: "mine" } },
    );
    await executor.open();
    await start(executor, "a");
    await start(executor, "b");
    expect(panes("#{@troupe_tag} #{pane_left}")[0]).toBe("lead 0");
    expect(panes("#{window_id}").filter((window, _, all) => window === all[0])).toHaveLength(3);
    expect(Number(panes("#{pane_width}")[0])).toBe(88);
    await waitUntil(
      "the view",
      () => tmux("capture-pane", "-p", "-t", panes("#{pane_id}")[0] ?? "").includes("view of mine"),
      { timeoutMs: 20_000 },
    );
  });

  it("goes on without the lead's view when it has ended, and does not open it again", async () => {
    const executor = make({ leadArgv: ["sleep", "300"] });
    await start(executor, "a");
    tmux(
      "kill-pane",
      "-t",
      panes("#{pane_id} #{@troupe_tag}")
        .find((line) => line.endsWith(" lead"))
        ?.split(" ")[0] ?? "",
    );
    await start(executor, "b");
    expect(panes("#{@troupe_agent}")).toEqual(["a@team", "b@team"]);
  });

  it("gives the command that attaches a terminal", async () => {
    const executor = make();
    await start(executor, "a");
    const [program = "", ...args] = executor.attachCommand() ?? [];
    // `script` gives the command a terminal; the first client to attach is then seen by the server.
    const attached = execFileSync(
      "script",
      ["-qec", `${[program, ...args].map((word) => `'${word}'`).join(" ")} ';' detach-client`, "/dev/null"],
      { encoding: "utf8", env: { PATH: process.env["PATH"], TERM: "xterm" } },
    );
    expect(attached).toContain("detached (from session ber-team-1)");
  });

  it("reads the user's configuration, and survives what is bad in it", async () => {
    fs.writeFileSync(
      path.join(dir, ".tmux.conf"),
      "set -g status-left mine\nset -g window-size manual\nset -g destroy-unattached on\nset -s exit-unattached on\nset -g base-index 5\nset -g no-such-option 1\n",
    );
    const executor = make({ userConfig: true });
    await start(executor, "a");
    await start(executor, "b");
    expect(panes("#{@troupe_agent}")).toEqual(["a@team", "b@team"]);
    expect(tmux("show-options", "-g", "-v", "status-left")).toBe("mine");
    expect(notes.join()).toContain("no-such-option");
    expect(await executor.isActive("a@team")).toBe("alive");
  });

  it("is not ended while a teammate runs or the user has a pane there", async () => {
    const executor = make();
    await start(executor, "a");
    await executor.close();
    expect(panes("#{@troupe_agent}")).toEqual(["a@team"]);
    tmux("split-window", "-d", "cat ; :");
    await executor.kill("a@team");
    await executor.close();
    expect(panes("#{pane_current_command}")).toHaveLength(1);
    tmux("kill-server");
    await executor.close();
    expect(fs.existsSync(socket())).toBe(false);
  });

  it("starts anew after the server was killed, and ends what had outlived it", async () => {
    const executor = make();
    const ref = await start(executor, "a", ["/bin/sh", "-c", "trap '' HUP TERM; while :; do sleep 1; done"]);
    tmux("kill-server");
    const root = ref.process;
    expect(root && liveness(root)).toBe("alive");
    await start(executor, "b");
    expect((await executor.kill("a@team")).survivors).toEqual([]);
    expect(await executor.isActive("b@team")).toBe("alive");
  });

  it("is taken over by a host that comes after one that was killed", async () => {
    const first = make();
    const ref = await start(first, "a");
    const second = make();
    expect(await second.adopt(ref)).toBe(true);
    await start(second, "b");
    expect(new Set(panes("#{pid}")).size).toBe(1);
    expect(await second.capture("a@team", 3)).toBe("");
    expect((await second.kill("a@team")).survivors).toEqual([]);
    expect(panes("#{@troupe_agent}")).toEqual(["b@team"]);
  });

  it("does not take a later server's pane for the one it knew", async () => {
    const first = make();
    const ref = await start(first, "a");
    tmux("kill-server");
    await waitUntil("the end", async () => (await first.isActive("a@team")) === "gone", {
      timeoutMs: 20_000,
    });
    const second = make();
    const other = await start(second, "b");
    const imposter = { ...ref, pane: other.pane ?? "" };
    expect(await second.adopt(imposter)).toBe(false);
    await second.kill("a@team");
    expect(panes("#{@troupe_agent}")).toEqual(["b@team"]);
  });

  it("starts teammates for two hosts at once", async () => {
    const [one, two] = [make(), make()];
    await Promise.all([start(one, "a"), start(two, "b")]);
    expect(panes("#{@troupe_agent}").sort()).toEqual(["a@team", "b@team"]);
  });

  it("goes with its socket and its lock, unless somebody else's program runs on it", async () => {
    const executor = make();
    const { server } = await start(executor, "a");
    const lock = path.join(dir, "lock");
    await executor.close();
    expect([server && liveness(server.process), fs.existsSync(lock)]).toEqual(["alive", true]);
    await executor.kill("a@team");
    await executor.close();
    expect([server && liveness(server.process), fs.existsSync(lock)]).toEqual(["gone", false]);
    expect(fs.existsSync(server?.socket ?? "")).toBe(false);
  });

  it("says that its socket's path is too long", async () => {
    const executor = make({ runDir: path.join(dir, "x".repeat(120)) });
    const result = await executor.spawn(teammateConfig(dir, "a", ["sleep", "1"]));
    expect(result).toMatchObject({ ok: false, code: "backend-failed" });
    expect(!result.ok && result.reason).toContain("too long");
  });

  it("gives up at the deadline, and leaves nothing that could start later", async () => {
    const executor = make();
    await start(executor, "b");
    const config = teammateConfig(dir, "a", ["sleep", "300"], { deadlineMs: 0 });
    expect(await executor.spawn(config)).toMatchObject({ ok: false, code: "deadline" });
    expect(panes("#{@troupe_agent}")).toEqual(["b@team"]);
    expect(fs.readdirSync(config.runDir)).not.toContain("launch.sh");
    expect(await executor.isActive("a@team")).toBe("gone");
  });

  it("keeps no environment on disk once the program runs", async () => {
    const ref = await start(make(), "a");
    expect(fs.readdirSync(ref.runDir).sort()).toEqual(["output.log", "ready.json"]);
    expect(identityOf(ref.process?.pid ?? 0)).toEqual(ref.process);
  });

  it("names its session by what is plain in the team's name", () => {
    expect(sessionName("Auth Review")).toBe("auth-review");
    expect(sessionName("=$@%~{!+-.:")).toBe("team");
    expect(sessionName("команда")).toBe("team");
    expect(sessionName(`x${"y".repeat(80)}`)).toHaveLength(40);
  });
});
