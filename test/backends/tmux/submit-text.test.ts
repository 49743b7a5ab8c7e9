import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { typedPrograms } from "../../../backends/contract/typed-programs.js";
import { createTmuxClient } from "../../../backends/tmux/client.js";
import { createTmuxExecutor } from "../../../backends/tmux/executor.js";
import { createSubmitText } from "../../../backends/tmux/submit-text.js";
import { paneOf } from "../../helpers/panes.js";
import { teammateConfig } from "../../helpers/teammate.js";
import { temporaryDirectory } from "../../helpers/temp.js";
import { startTmux, tmuxProgram } from "../../helpers/tmux.js";
import { until } from "../../helpers/until.js";

// Whole programs, on a machine that may be busy with others.
vi.setConfig({ testTimeout: 120_000 });

/** A program in a pane beside the user's, and what it takes; typed to with short waits. */
async function setUp(program: (file: string) => readonly string[], ready: RegExp = /ready/) {
  const dir = temporaryDirectory();
  const file = path.join(dir, "taken");
  const tmux = startTmux();
  onTestFinished(tmux.stop);
  const make = () =>
    createTmuxExecutor({
      place: { kind: "inside", socket: tmux.socket, pane: "%0" },
      team: "team",
      teamId: dir,
      env: process.env,
      deliver: async () => undefined,
      lockDir: path.join(dir, "lock"),
      tmux: tmuxProgram,
      graceMs: 400,
    });
  const executor = make();
  onTestFinished(async () => void (await executor.kill("scout@team")));
  const result = await executor.spawn(teammateConfig(dir, "scout", program(file)));
  if (!result.ok) throw new Error(`${result.code}: ${result.reason}\n${result.screen}`);
  const { ref } = result;
  const pane = paneOf(tmux.run, ref.pane!);
  await pane.shows(ready);
  const client = createTmuxClient({ program: tmuxProgram, socket: tmux.socket, env: process.env });
  const typeTo = createSubmitText({ client, env: process.env, seenMs: 3000, takenMs: 3000 });
  return {
    dir,
    file,
    tmux,
    executor,
    make,
    ref,
    pane,
    submit: (text: string, signal?: AbortSignal, to = ref) => typeTo("scout@team", to, text, signal),
    facts: (format: string) => tmux.run("display-message", "-p", "-t", pane.id, format),
    taken: () =>
      fs.existsSync(file)
        ? fs
            .readFileSync(file, "utf8")
            .split("\n")
            .slice(0, -1)
            .map((hex) => Buffer.from(hex, "hex").toString())
        : [],
  };
}

const submitted = { outcome: "submitted" };

describe("typing into a pane", () => {
  it("leaves a copy mode for no longer than the paste, at the lines that were looked at", async () => {
    const { submit, pane, tmux, facts, taken } = await setUp((file) => [
      "/bin/sh",
      "-c",
      'seq 200; exec "$@"',
      "sh",
      ...typedPrograms.box(file),
    ]);
    tmux.run("copy-mode", "-t", pane.id);
    tmux.run("send-keys", "-t", pane.id, "-X", "goto-line", "70");
    expect(await submit("a\nb")).toEqual(submitted);
    await until(() => taken().length === 1, "the text");
    expect(taken()).toEqual(["a\nb"]);
    expect(facts("#{pane_mode} #{scroll_position}")).toBe("copy-mode 70");
    expect(await submit("once more")).toEqual(submitted);
    expect(taken()).toEqual(["a\nb", "once more"]);
  });

  it.each([
    ["a tree", ["choose-tree"]],
    ["a clock", ["clock-mode"]],
  ])("leaves %s", async (_, [command = ""]) => {
    const { submit, pane, tmux, facts, taken } = await setUp(typedPrograms.box);
    tmux.run(command, "-t", pane.id);
    expect(facts("#{pane_in_mode}")).toBe("1");
    expect(await submit("two\nlines")).toEqual(submitted);
    await until(() => taken().length === 1, "the text");
    expect(taken()).toEqual(["two\nlines"]);
    expect(facts("#{pane_in_mode}")).toBe("0");
  });

  it("reaches no other pane of a synchronized window, and touches none of the user's buffers", async () => {
    const { submit, pane, tmux, taken } = await setUp(typedPrograms.box);
    tmux.run("set-buffer", "the user's");
    tmux.run("set-buffer", "-b", "named", "the user's, too");
    tmux.run("set-buffer", "the newest");
    const buffers = tmux.run("list-buffers");
    tmux.run("set-option", "-w", "-t", pane.id, "synchronize-panes", "on");
    const other = tmux.run("capture-pane", "-p", "-t", "%0");
    expect(await submit("for one")).toEqual(submitted);
    await until(() => taken().length === 1, "the text");
    expect(tmux.run("capture-pane", "-p", "-t", "%0")).toBe(other);
    expect(tmux.run("list-buffers")).toBe(buffers);
  });

  it("types nothing where input is off, and says how to switch it on", async () => {
    const { submit, pane, tmux, taken } = await setUp(typedPrograms.box);
    tmux.run("select-pane", "-d", "-t", pane.id);
    await expect(submit("x")).rejects.toMatchObject({
      code: "input-off",
      remedy: expect.stringMatching(pane.id),
    });
    tmux.run("select-pane", "-e", "-t", pane.id);
    expect(await submit("y")).toEqual(submitted);
    await until(() => taken().length === 1, "the text");
    expect(taken()).toEqual(["y"]);
  });

  it("types nothing into what is not the teammate's pane, or no pane any more", async () => {
    const { submit, ref, pane, tmux, taken, executor } = await setUp(typedPrograms.box);
    const other = tmux.run("capture-pane", "-p", "-t", "%0");
    const server = { ...ref.server!, process: { ...ref.server!.process, startTime: "1" } };
    for (const wrong of [
      { ...ref, pane: "%0" },
      { ...ref, tag: "0000000000000000" },
      { ...ref, pane: "%99" },
      { ...ref, server },
    ])
      await expect(submit("x", undefined, wrong)).rejects.toMatchObject({ code: "pane-gone" });
    expect(tmux.run("capture-pane", "-p", "-t", "%0")).toBe(other);
    expect(taken()).toEqual([]);
    expect(tmux.run("list-buffers")).toBe("");
    tmux.run("kill-pane", "-t", pane.id);
    await expect(submit("x")).rejects.toMatchObject({ kind: "not-reached" });
    await executor.kill("scout@team");
    await expect(submit("x")).rejects.toMatchObject({ code: "not-running" });
  });

  it("does not know of a text that never shows, and does not press Enter then", async () => {
    const { submit, file, tmux } = await setUp(typedPrograms.secret, /^/);
    expect(await submit("hunter2")).toMatchObject({
      outcome: "unknown",
      reason: expect.stringMatching(/did not show .* Enter was not pressed/),
    });
    expect(fs.existsSync(file)).toBe(false);
    expect(tmux.run("list-buffers")).toBe("");
  });

  it("proves it on a screen that never rests, too", async () => {
    const { submit, taken } = await setUp(typedPrograms.restless);
    expect(await submit("in all this")).toEqual(submitted);
    expect(taken()).toEqual(["in all this"]);
  });

  it("keeps senders of two processes apart", async () => {
    const { submit, make, ref, taken } = await setUp(typedPrograms.box);
    const other = make();
    expect(await other.adopt(ref)).toBe(true);
    const texts = ["one\nof two", "two\nof two"];
    const outcomes = await Promise.all([submit(texts[0]!), other.submitText("scout@team", texts[1]!)]);
    expect(outcomes).toEqual([submitted, submitted]);
    await until(() => taken().length === 2, "both");
    expect(taken().sort()).toEqual(texts);
  });

  it("types nothing where the server does not answer, also not when it does again", async () => {
    const { submit, ref, taken, pane } = await setUp(typedPrograms.box);
    const { pid } = ref.server!.process;
    process.kill(pid, "SIGSTOP");
    try {
      await expect(submit("lost")).rejects.toMatchObject({ code: "tmux-timeout" });
    } finally {
      process.kill(pid, "SIGCONT");
    }
    expect(await submit("kept")).toEqual(submitted);
    await until(() => taken().length === 1, "the text");
    expect(taken()).toEqual(["kept"]);
    expect(pane.text()).not.toContain("lost");
  });

  it("does not type again where tmux was ended by a signal and may have typed", async () => {
    const { dir, ref, tmux, pane, taken } = await setUp(typedPrograms.box);
    const program = path.join(dir, "tmux");
    const script = `#!/bin/sh\ncase "$*" in *paste-buffer*) ${tmuxProgram} "$@" >/dev/null; kill -KILL $$;; esac\n`;
    fs.writeFileSync(program, `${script}exec ${tmuxProgram} "$@"\n`, { mode: 0o755 });
    const client = createTmuxClient({ program, socket: tmux.socket, env: process.env });
    const typeTo = createSubmitText({ client, env: process.env, seenMs: 3000, takenMs: 3000 });
    expect(await typeTo("scout@team", ref, "only once")).toMatchObject({
      outcome: "unknown",
      reason: expect.stringContaining("SIGKILL"),
    });
    await pane.shows(/only once/);
    expect(pane.text().split("only once")).toHaveLength(2);
    expect(taken()).toEqual([]);
  });

  it("can be given up: before it is typed by an error, later without knowing", async () => {
    const { submit, taken, pane, tmux } = await setUp((file) => typedPrograms.box(file, { deaf: 9 }));
    const reason = new Error("enough");
    await expect(submit("x", AbortSignal.abort(reason))).rejects.toBe(reason);
    const giveUp = new AbortController();
    const submitting = submit("given up", giveUp.signal);
    await pane.shows(/given up/);
    giveUp.abort(reason);
    expect(await submitting).toMatchObject({
      outcome: "unknown",
      reason: expect.stringMatching(/enough|no answer/),
    });
    expect(taken()).toEqual([]);
    expect(tmux.run("list-buffers")).toBe("");
  });
});
