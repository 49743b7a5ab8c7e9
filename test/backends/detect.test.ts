import { describe, expect, it } from "vitest";
import { type ChoiceInput, chooseBackend } from "../../backends/detect.js";
import { installCommand } from "../../backends/install-command.js";
import type { Availability } from "../../backends/types.js";

const yes: Availability = { available: true, code: "ok", reason: "there" };
const no = (code: string, remedy?: string): Availability => ({
  available: false,
  code,
  reason: `no: ${code}`,
  ...(remedy === undefined ? {} : { remedy }),
});
const inTmux = { TMUX: "/tmp/tmux-0/default,12,0", TMUX_PANE: "%3" };
const inIterm = { TERM_PROGRAM: "iTerm.app", ITERM_SESSION_ID: "w0t0p0:UUID" };

interface Case {
  readonly inside?: Availability;
  readonly installed?: Availability;
  readonly iterm2?: Availability;
}

function choose(
  input: Partial<ChoiceInput>,
  { inside = yes, installed = yes, iterm2 = no("not-macos") }: Case = {},
) {
  return chooseBackend({
    command: "up",
    env: {},
    stdinIsTerminal: true,
    stderrIsTerminal: true,
    probe: {
      tmuxInside: async () => inside,
      tmuxInstalled: async () => installed,
      iterm2: async () => iterm2,
    },
    ...input,
  });
}

describe("the choice of a backend", () => {
  const missing = no("tmux-missing", "brew install tmux");
  const noTerminal = { stdinIsTerminal: false, stderrIsTerminal: false };

  it.each<[string, Partial<ChoiceInput>, Case, object]>([
    ["run: one process", { command: "run", env: inTmux }, {}, { type: "in-process" }],
    [
      "run with auto: looks around",
      { command: "run", explicit: "auto", env: inTmux },
      {},
      { type: "tmux", place: "inside" },
    ],
    ["run with tmux", { command: "run", explicit: "tmux" }, {}, { type: "tmux", place: "own" }],
    ["in a pane", { env: inTmux }, {}, { type: "tmux", place: "inside" }],
    [
      "in a pane, without terminals, in CI",
      { env: { ...inTmux, CI: "1" }, ...noTerminal },
      {},
      { type: "tmux", place: "inside" },
    ],
    [
      "in a pane inside of iTerm2",
      { env: { ...inTmux, ...inIterm } },
      { iterm2: yes },
      { type: "tmux", place: "inside" },
    ],
    [
      "in a pane inside of VS Code",
      { env: { ...inTmux, TERM_PROGRAM: "vscode" } },
      {},
      { type: "tmux", place: "inside" },
    ],
    ["iTerm2 that answers", { env: inIterm }, { iterm2: yes }, { type: "iterm2" }],
    [
      "iTerm2 that does not answer",
      { env: inIterm },
      { iterm2: no("denied") },
      { type: "tmux", place: "own", hint: "no: denied" },
    ],
    ["no terminals", noTerminal, {}, { type: "in-process" }],
    ["a terminal on stdin only", { stderrIsTerminal: false }, {}, { type: "tmux", place: "own" }],
    ["CI", { env: { CI: "true" } }, {}, { type: "in-process" }],
    ["CI=false", { env: { CI: "false" } }, {}, { type: "tmux", place: "own" }],
    ["a terminal and tmux", {}, {}, { type: "tmux", place: "own" }],
    [
      "a terminal without tmux",
      {},
      { installed: missing },
      { type: "in-process", hint: "brew install tmux" },
    ],
    [
      "LC_TERMINAL alone proves nothing",
      { env: { LC_TERMINAL: "iTerm2" } },
      { iterm2: yes },
      { type: "tmux", place: "own" },
    ],
    ["asked for in-process", { explicit: "in-process", env: inTmux }, {}, { type: "in-process" }],
    ["asked for tmux, in a pane", { explicit: "tmux", env: inTmux }, {}, { type: "tmux", place: "inside" }],
    [
      "asked for tmux, without terminals",
      { explicit: "tmux", ...noTerminal },
      {},
      { type: "tmux", place: "own" },
    ],
    ["asked for iTerm2", { explicit: "iterm2" }, { iterm2: yes }, { type: "iterm2" }],
  ])("%s", async (_, input, machine, expected) => {
    const choice = await choose(input, machine);
    expect(choice).toMatchObject(expected);
    expect(choice.reason).not.toBe("");
  });

  it.each(["up", "run"] as const)(
    "tells of a pane that does not answer, and goes on (%s)",
    async (command) => {
      const choice = await choose(
        { command, explicit: "auto", env: inTmux },
        { inside: no("tmux-no-server") },
      );
      expect(choice).toMatchObject({ type: "tmux", place: "own", hint: "no: tmux-no-server" });
      expect(await choose({ env: { TMUX: "nonsense" } })).toMatchObject({
        type: "tmux",
        place: "own",
        hint: expect.stringContaining("TMUX"),
      });
    },
  );

  it("refuses what was asked for and cannot be had, with what mends it", async () => {
    await expect(choose({ explicit: "tmux" }, { installed: missing })).rejects.toMatchObject({
      code: "tmux-missing",
      kind: "unavailable",
      remedy: "brew install tmux",
      exitCode: 5,
    });
    await expect(choose({ explicit: "iterm2" })).rejects.toMatchObject({
      code: "not-macos",
      kind: "unavailable",
    });
  });

  it("names the command that installs a program", () => {
    expect(installCommand("tmux", "darwin")).toBe("brew install tmux");
    expect(installCommand("tmux", "linux", "ID=ubuntu\nID_LIKE=debian\n")).toBe("sudo apt-get install tmux");
    expect(installCommand("tmux", "linux", 'NAME="Rocky"\nID="rocky"\nID_LIKE="rhel centos fedora"\n')).toBe(
      "sudo dnf install tmux",
    );
    expect(installCommand("tmux", "linux", "ID=constructor\n")).toBe("sudo apt-get install tmux");
  });
});
