import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, onTestFinished, vi } from "vitest";
import { builtCommand } from "./built.js";
import { endProcessesNaming, expectNothingLeft } from "./left-over.js";
import { type Finished, type Running, type RunOptions, startProgram } from "./running.js";

// Each of these tests runs whole programs, on a machine that may be busy with others.
vi.setConfig({ testTimeout: 120_000 });
beforeAll(async () => void (await builtCommand()), 180_000);

// What these tests make in the directory for temporary files is told from what others make there.
let scratch = "";
beforeAll(() => {
  scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "t-")));
  process.env["TMPDIR"] = scratch;
});
afterAll(() => {
  if (scratch !== "") fs.rmSync(scratch, { recursive: true, force: true });
});

type Extra = Partial<Omit<RunOptions, "env">> & { readonly env?: Readonly<Record<string, string>> };

/** A person's machine as a test sees it: a home, a TROUPE_HOME, a project, and troupe in PATH. */
export interface Place {
  /** TROUPE_HOME. */
  readonly home: string;
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
  /** Writes a file of the project and gives its path; an object is written as JSON, which is YAML, too. */
  write(name: string, content: string | object): string;
  /** Runs troupe in the project, without a terminal, to its end. */
  troupe(args: readonly string[], options?: Extra): Promise<Finished>;
  /** Starts it and does not wait. */
  start(args: readonly string[], options?: Extra): Running;
  /** The output of a command with `--json`. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into documents as deep as they like
  json(args: readonly string[]): Promise<any>;
}

/**
 * Makes a place. When the test is over nothing of its teams may be left (see {@link expectNothingLeft}), and the place
 * is removed. `homeName` is the path of TROUPE_HOME below the place.
 */
export async function makePlace({ homeName = "home" } = {}): Promise<Place> {
  const command = await builtCommand();
  const before = new Set(fs.readdirSync(scratch).map((name) => path.join(scratch, name)));
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "troupe-e2e-")));
  const dir = (name: string): string => {
    const made = path.join(root, name);
    fs.mkdirSync(made, { recursive: true, mode: 0o700 });
    return made;
  };
  const [home, project, tmp, bin] = [dir(homeName), dir("project"), dir("tmp"), dir("bin")];
  fs.writeFileSync(path.join(bin, "troupe"), `#!/bin/sh\nexec '${process.execPath}' '${command}' "$@"\n`, {
    mode: 0o755,
  });
  onTestFinished(async ({ task }) => {
    try {
      if (task.result?.state === "fail") endProcessesNaming(root);
      else await expectNothingLeft({ root, home, tmp, scratch, before });
    } finally {
      fs.rmSync(root, { recursive: true, force: true });
    }
  });
  const env = {
    PATH: `${bin}:${process.env["PATH"] ?? "/usr/bin:/bin"}`,
    HOME: dir("user"),
    TROUPE_HOME: home,
    TMPDIR: tmp,
    TMUX_TMPDIR: dir("tmux"),
    LANG: "C.UTF-8",
    TERM: "xterm-256color",
    ...(process.env["TROUPE_TMUX"] === undefined ? {} : { TROUPE_TMUX: process.env["TROUPE_TMUX"] }),
  };
  const start: Place["start"] = (args, options = {}) =>
    startProgram([process.execPath, command, ...args], {
      cwd: project,
      ...options,
      env: { ...env, ...options.env },
    });
  return {
    home,
    project,
    env,
    write(name, content) {
      const file = path.join(project, name);
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content, undefined, 2));
      return file;
    },
    start,
    troupe: (args, options) => start(args, options).finished,
    async json(args) {
      const { stdout, stderr } = await start([...args, "--json"]).finished;
      if (stdout === "") throw new Error(`nothing printed: ${stderr}`);
      return JSON.parse(stdout);
    },
  };
}
