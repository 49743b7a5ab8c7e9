import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type BackendProbes, chooseBackend } from "../../backends/detect.js";
import { createProbes } from "../../backends/probes.js";
import type { Availability } from "../../backends/types.js";
import { startTmux, type TestTmux, tmuxProgram } from "../helpers/tmux.js";

const booleans = [true, false] as const;
const surroundings = ["live", "stale", "unset", "nested"] as const;
const iterms = ["answers", "silent", "absent"] as const;
const commands = ["up", "run", "run --backend auto"] as const;

interface Row {
  readonly command: (typeof commands)[number];
  readonly tmux: (typeof surroundings)[number];
  readonly iterm: (typeof iterms)[number];
  readonly ci: boolean;
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly installed: boolean;
}

/** The first line that fits says what is chosen. */
const rules: readonly [when: (row: Row) => boolean, choice: string][] = [
  [({ command }) => command === "run", "in-process"],
  [({ tmux }) => tmux === "live" || tmux === "nested", "tmux inside"],
  [({ iterm }) => iterm === "answers", "iterm2"],
  [({ iterm, installed }) => iterm === "silent" && installed, "tmux own, hint"],
  [({ stdin, stderr }) => !stdin && !stderr, "in-process"],
  [({ ci }) => ci, "in-process"],
  [({ installed }) => installed, "tmux own"],
  [() => true, "in-process, hint"],
];

const rows: readonly Row[] = commands.flatMap((command) =>
  surroundings.flatMap((tmux) =>
    iterms.flatMap((iterm) =>
      booleans.flatMap((ci) =>
        booleans.flatMap((stdin) =>
          booleans.flatMap((stdout) =>
            booleans.flatMap((stderr) =>
              booleans.map((installed) => ({ command, tmux, iterm, ci, stdin, stdout, stderr, installed })),
            ),
          ),
        ),
      ),
    ),
  ),
);

let dir: string;
let outer: TestTmux;
let inner: TestTmux;
let around: Readonly<Record<Row["tmux"], Readonly<Record<string, string>>>>;

beforeAll(() => {
  dir = fs.mkdtempSync(path.join(os.tmpdir(), "troupe-"));
  outer = startTmux();
  inner = startTmux();
  // A client of the inner server in the outer one's pane; a program in the inner pane has the inner server's variables.
  outer.run("respawn-pane", "-k", "-t", "%0", `TMUX= ${tmuxProgram} -S ${inner.socket} attach`);
  around = {
    live: outer.env("%0"),
    nested: inner.env("%0"),
    stale: { TMUX: `${path.join(dir, "gone")},1,0`, TMUX_PANE: "%0" },
    unset: {},
  };
});

afterAll(() => {
  outer.stop();
  inner.stop();
  fs.rmSync(dir, { recursive: true, force: true });
});

const silent: Availability = { available: false, code: "denied", reason: "iTerm2 refuses" };
const missing: Availability = {
  available: false,
  code: "tmux-missing",
  reason: "no tmux",
  remedy: "get tmux",
};

/** What is around us is asked of real servers, each once; what this machine cannot be without is given. */
function createMachine(): (row: Row) => BackendProbes {
  const asked = new Map<string, Promise<Availability>>();
  return ({ tmux, iterm, installed }) => ({
    tmuxInside() {
      const answer = asked.get(tmux) ?? createProbes(around[tmux], tmuxProgram).tmuxInside();
      asked.set(tmux, answer);
      return answer;
    },
    tmuxInstalled: async () => (installed ? { ...silent, available: true } : missing),
    iterm2: async () => (iterm === "answers" ? { ...silent, available: true } : silent),
  });
}

function environmentOf({ tmux, iterm, ci }: Row): Record<string, string> {
  return {
    ...around[tmux],
    ...(iterm === "absent" ? {} : { TERM_PROGRAM: "iTerm.app", ITERM_SESSION_ID: "w0t0p0:ID" }),
    ...(ci ? { CI: "true" } : {}),
  };
}

it(`${rows.length} places to start a team from, each with the backend that the rules name`, async () => {
  const machine = createMachine();
  for (const row of rows) {
    const choice = await chooseBackend({
      command: row.command === "up" ? "up" : "run",
      ...(row.command === "run --backend auto" ? { explicit: "auto" } : {}),
      env: environmentOf(row),
      stdinIsTerminal: row.stdin,
      stderrIsTerminal: row.stderr,
      probe: machine(row),
    });
    const expected = rules.find(([when]) => when(row))?.[1] ?? "";
    const place = "place" in choice ? ` ${choice.place}` : "";
    const where = `${choice.type}${place}${expected.endsWith(", hint") && choice.hint ? ", hint" : ""}`;
    expect(where, JSON.stringify(row)).toBe(expected);
    expect(choice.reason, JSON.stringify(row)).not.toBe("");
    // A server that is named and does not answer is told, whatever is chosen instead.
    if (row.tmux === "stale" && row.command !== "run" && choice.type !== "iterm2")
      expect(choice.hint, JSON.stringify(row)).toMatch(/tmux/i);
  }
});
