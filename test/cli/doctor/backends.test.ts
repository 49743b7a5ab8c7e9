import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { BackendProbes } from "../../../backends/detect.js";
import { createProbes } from "../../../backends/probes.js";
import { checkBackends, checkChoices } from "../../../src/cli/doctor/backends.js";
import { temporaryDirectory } from "../../helpers/temp.js";
import { emulatorOf } from "../../iterm2-emulator/api-client.js";

describe("what doctor says of tmux", () => {
  it("is about the one that TROUPE_TMUX names", async () => {
    const file = path.join(temporaryDirectory(), "another");
    fs.writeFileSync(file, "#!/bin/sh\necho tmux 3.1c\n", { mode: 0o755 });
    const env = { PATH: process.env["PATH"], TROUPE_TMUX: file };
    const [tmux] = await checkBackends(env);
    expect(tmux).toMatchObject({
      subject: "tmux",
      state: "absent",
      code: "tmux-too-old",
      version: "tmux 3.1c",
    });
    const [up] = await checkChoices({ env, stdinIsTerminal: true, stderrIsTerminal: true });
    expect(up).toMatchObject({ text: expect.stringContaining("in-process: tmux 3.1c is installed") });
  });
});

describe("what doctor says of iTerm2", () => {
  it("asks it once, and tells what was found, or why it cannot be used and what mends that", async () => {
    const emulator = await emulatorOf();
    const { env, osascript } = emulator;
    const look = async (platform: NodeJS.Platform) => {
      const probes = createProbes(env, "/nonexistent/tmux", { osascript, platform, answerMs: 2_000 });
      const conditions = { env, stdinIsTerminal: true, stderrIsTerminal: true };
      const [places, [up]] = await Promise.all([
        checkBackends(env, probes),
        checkChoices(conditions, probes),
      ]);
      return [places.find(({ subject }) => subject === "iterm2"), up] as const;
    };
    const [found, chosen] = await look("darwin");
    expect(found).toEqual({
      subject: "iterm2",
      state: "ok",
      code: "ok",
      text: "inside iTerm2 3.6.0",
      version: "iTerm2 3.6.0",
    });
    expect(chosen).toMatchObject({ text: "iterm2: called from iTerm2, which answers" });
    expect(emulator.connections()).toBe(1);

    await emulator.switchOff();
    const [off, instead] = await look("darwin");
    expect(off).toMatchObject({ state: "warning", code: "iterm2-api-off", text: "iTerm2's API is off" });
    expect(off?.remedy).toMatch(/Enable Python API/);
    expect(instead?.text).toMatch(/^in-process: /);
    expect(instead?.remedy).toMatch(/Enable Python API/);

    const [absent] = await look("linux");
    expect(absent).toMatchObject({ state: "absent", code: "not-macos", remedy: "use --backend tmux" });
  });

  it("asks tmux first where both are around", async () => {
    const emulator = await emulatorOf();
    const env = { ...emulator.env, TMUX: "/nonexistent/default,1,0", TMUX_PANE: "%0" };
    const answers: BackendProbes = {
      tmuxInside: async () => ({ available: true, code: "ok", reason: "inside" }),
      tmuxInstalled: async () => ({ available: true, code: "ok", reason: "there" }),
      iterm2: createProbes(env, "tmux", { osascript: emulator.osascript, platform: "darwin" }).iterm2,
    };
    const [up] = await checkChoices({ env, stdinIsTerminal: true, stderrIsTerminal: true }, answers);
    expect(up).toMatchObject({ text: "tmux: called from a tmux pane" });
    expect(emulator.connections()).toBe(0);
  });
});
