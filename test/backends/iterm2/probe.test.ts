import { describe, expect, it } from "vitest";
import { probeIterm2 } from "../../../backends/iterm2/probe.js";
import { emulatorOf } from "../../iterm2-emulator/api-client.js";

describe("whether iTerm2 can be used", () => {
  it("is asked of the iTerm2 that has our session", async () => {
    const { env, osascript } = await emulatorOf();
    const probe = { env, osascript, platform: "darwin" } as const;
    expect(await probeIterm2(probe)).toEqual({
      available: true,
      code: "ok",
      reason: "inside iTerm2 3.6.0",
      version: "iTerm2 3.6.0",
    });
    const another = { ...env, ITERM_SESSION_ID: "w0t0p0:11111111-2222-3333-4444-555555555555" };
    expect(await probeIterm2({ ...probe, env: another })).toMatchObject({
      available: false,
      code: "iterm2-other-instance",
      remedy: expect.stringContaining("--backend tmux"),
    });
  });

  it("is answered with a code, a reason and a remedy where it cannot", async () => {
    const emulator = await emulatorOf();
    const { env, osascript } = emulator;
    const probe = (platform: NodeJS.Platform, more: object = env) =>
      probeIterm2({ env: { ...more }, osascript, platform, answerMs: 200 });
    const cases: readonly (readonly [string, () => ReturnType<typeof probe>])[] = [
      ["not-macos", () => probe("linux", {})],
      ["not-macos", () => probe("linux")],
      ["not-in-iterm2", () => probe("darwin", {})],
      ["not-in-iterm2", () => probe("darwin", { ...env, TERM_PROGRAM: "vscode" })],
      ["not-in-iterm2", () => probe("darwin", { ...env, ITERM_SESSION_ID: "nonsense" })],
      ["iterm2-api-off", () => probe("darwin", { ...env, IT2_SUITE: "another" })],
    ];
    for (const [code, ask] of cases) {
      const answer = await ask();
      expect(answer).toMatchObject({ available: false, code });
      expect(answer.reason).not.toBe("");
      expect(answer.remedy).toBeTruthy();
    }
    expect(emulator.connections()).toBe(0);
    emulator.faults.before = (name) => (name === "list_sessions" ? "ignore" : undefined);
    expect(await probe("darwin")).toMatchObject({ available: false, code: "iterm2-timeout" });
    emulator.faults.denied = true;
    expect(await probe("darwin")).toMatchObject({ available: false, code: "iterm2-no-permission" });
  });

  it("is not possible from a container or another machine, which is said", async () => {
    const { env, osascript } = await emulatorOf();
    const answer = await probeIterm2({ env, osascript, platform: "linux" });
    expect(answer.reason).toMatch(/container/);
  });
});
