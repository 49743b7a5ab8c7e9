import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runIdOf } from "../../backends/environment.js";
import { launchScript, writeLaunchScript } from "../../backends/launch-script.js";
import { clearRecords, earlyFailure, readExit, readReady, writeExit } from "../../backends/records.js";
import { identityOf } from "../../src/util/process-identity.js";
import { waitUntil } from "../../src/util/wait.js";
import { temporaryDirectory } from "../helpers/temp.js";

/** What the script is read by on different systems. */
const shells = [["/bin/sh"], ["/bin/bash", "--posix"]].filter(([file = ""]) => fs.existsSync(file));

describe("the launch script", () => {
  /** Runs a script with one of the shells and gives what its program prints, cut at the NULs. */
  function run(shell: readonly string[], dir: string, argv: readonly string[], env: Record<string, string>) {
    const file = path.join(dir, "launch.sh");
    fs.writeFileSync(
      file,
      launchScript({ runDir: dir, cwd: dir, env, argv }).replaceAll("/bin/sh", shell.join(" ")),
    );
    const { status, stdout, stderr } = spawnSync(shell[0] ?? "", [...shell.slice(1), file], {
      encoding: "utf8",
      env: { LEAKED: "1", TMUX: "x", TMUX_PANE: "%1", TERM: "vt220", PATH: process.env["PATH"] },
    });
    expect([status, stderr]).toEqual([0, ""]);
    return stdout.split("\0").slice(0, -1);
  }

  it.each(shells)("gives a program exactly its arguments and environment (%s)", (...shell) => {
    const dir = temporaryDirectory();
    const text = fc
      .oneof(
        fc.string({ unit: "binary" }),
        fc.string(),
        fc.constantFrom("'", "\\", "\n", "$x", "`id`", "\u0081", "\u007f", "\u0001", "😀"),
      )
      .map((value) => Buffer.from(value.replaceAll("\0", "")).toString());
    const name = fc.oneof(
      fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/),
      fc.stringMatching(/^[a-z.%-]{1,8}$/),
      fc.constantFrom(
        "UID",
        "EUID",
        "PPID",
        "IFS",
        "PS1",
        "PATH",
        "SHELLOPTS",
        "BASH_ENV",
        "ENV",
        "LC_ALL",
        "OPTIND",
        "SHLVL",
        "RANDOM",
        "_",
        "run",
        "mask",
        "terminal",
        "status",
        "start",
        "CDPATH",
        "HOME",
        "TMUX",
        "TMUX_PANE",
      ),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 6 }), fc.dictionary(name, text), (argv, given) => {
        const env = { ...given, TERM: "dumb", PWD: "/elsewhere" };
        const seen = run(shell, dir, ["/usr/bin/env", "-0"], env);
        const expected = { ...env, TERM: "vt220", PWD: dir, TROUPE_RUN_ID: runIdOf(dir) };
        expect(seen.sort()).toEqual(
          Object.entries(expected)
            .map((pair) => pair.join("="))
            .sort(),
        );
        expect(run(shell, dir, ["/usr/bin/printf", "%s\\0", "", ...argv], {})).toEqual(["", ...argv]);
      }),
      { numRuns: 10 },
    );
  });

  it("starts a program whose name looks like a variable or an option", () => {
    const dir = temporaryDirectory();
    for (const name of ["a=b", "-i", "--"]) {
      const file = path.join(dir, name);
      fs.writeFileSync(file, "#!/bin/sh\nexit 7\n", { mode: 0o755 });
      const script = path.join(dir, "launch.sh");
      fs.writeFileSync(
        script,
        launchScript({ runDir: dir, cwd: dir, env: { PATH: `${dir}:/usr/bin:/bin` }, argv: [name] }),
      );
      expect([name, spawnSync("/bin/sh", [script]).status]).toEqual([name, 7]);
    }
  });

  it("records how the program ended, for every code and signal", () => {
    const dir = temporaryDirectory();
    const end = (command: string) => {
      clearRecords(dir);
      const file = path.join(dir, "launch.sh");
      fs.writeFileSync(
        file,
        launchScript({
          runDir: dir,
          cwd: dir,
          env: { PATH: "/usr/bin:/bin" },
          argv: ["/bin/sh", "-c", command],
        }),
      );
      spawnSync("/bin/sh", [file]);
      const { at: _, ...record } = readExit(dir) ?? { at: "" };
      return record;
    };
    for (const code of [0, 1, 2, 100, 125, 126, 127, 255])
      expect(end(`exit ${code}`)).toEqual({ exitCode: code, signal: null });
    for (const signal of ["TERM", "KILL", "INT", "HUP", "QUIT", "PIPE", "SEGV"])
      expect(end(`kill -${signal} $$`)).toEqual({ exitCode: null, signal: `SIG${signal}` });
  });

  it("outlives the signals that end the program, but for the hangup, which it passes on", async () => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGQUIT"] as const) {
      const dir = temporaryDirectory();
      const file = await writeLaunchScript({
        runDir: dir,
        cwd: dir,
        env: { PATH: "/usr/bin:/bin" },
        argv: ["sleep", "300"],
      });
      expect(fs.statSync(file).mode & 0o777).toBe(0o700);
      const child = spawn("/bin/sh", [file], { detached: true, stdio: "ignore" });
      const pid = child.pid ?? 0;
      try {
        const ready = await waitUntil("the record", () => readReady(dir), { timeoutMs: 20_000 });
        expect(identityOf(ready.pid)).toEqual(ready);
        await waitUntil(
          "the program",
          () => fs.readFileSync(`/proc/${ready.pid}/task/${ready.pid}/children`, "utf8") !== "",
          { timeoutMs: 20_000 },
        );
        await waitUntil(
          "the record of its end",
          () => {
            // The program may still be about to take its own dispositions: a terminal's user would press the key again.
            if (readExit(dir) === undefined) process.kill(-pid, signal);
            return readExit(dir);
          },
          { timeoutMs: 20_000 },
        );
        expect(readExit(dir)).toMatchObject({ exitCode: null, signal });
      } finally {
        if (child.exitCode === null && child.signalCode === null) process.kill(-pid, "SIGKILL");
      }
    }
  });

  it("explains a directory that is gone and a pane that cannot be set up, and does not start the program", () => {
    const dir = temporaryDirectory();
    const mark = path.join(dir, "mark");
    const attempt = (more: object) => {
      clearRecords(dir);
      const file = path.join(dir, "launch.sh");
      fs.writeFileSync(
        file,
        launchScript({ runDir: dir, cwd: dir, env: {}, argv: ["/usr/bin/touch", mark], ...more }),
      );
      return spawnSync("/bin/sh", [file], { encoding: "utf8" }).stdout;
    };
    expect(attempt({ cwd: `${dir}/it's gone` })).toContain(`the directory ${dir}/it's gone is not there`);
    expect(readExit(dir)?.exitCode).toBe(126);
    expect(readReady(dir)).toBeUndefined();
    expect(fs.existsSync(mark)).toBe(false);
    expect(() => launchScript({ runDir: dir, cwd: dir, env: { A: "a\0" }, argv: ["x"] })).toThrow("NUL");
  });

  it("empties itself before anything else, whoever started it", () => {
    const dir = temporaryDirectory();
    const script = path.join(dir, "launch.sh");
    for (const cwd of [dir, `${dir}/gone`]) {
      const argv = ["/bin/sh", "-c", `cat '${script}' >'${dir}/seen'; rm '${script}'`];
      // Longer than what a shell reads at a time.
      const env = { PATH: "/usr/bin:/bin", SECRET: "x".repeat(100_000) };
      fs.writeFileSync(script, launchScript({ runDir: dir, cwd, env, argv }));
      spawnSync("/bin/sh", [script]);
      expect(fs.existsSync(script) && fs.readFileSync(script, "utf8")).toBe(cwd === dir ? false : "");
    }
    expect(fs.readFileSync(path.join(dir, "seen"), "utf8")).toBe("");
  });

  it("takes only whole records for records", async () => {
    const dir = temporaryDirectory();
    expect(readExit(dir)).toBeUndefined();
    for (const text of ["", '{"v":1,"status":0}', "nonsense\n", "[]\n", "null\n", '{"v":2,"status":0}\n']) {
      fs.writeFileSync(path.join(dir, "exit.json"), text);
      expect([text, readExit(dir)]).toEqual([text, undefined]);
    }
    await writeExit(dir, { exitCode: 3, signal: null });
    expect(readExit(dir)).toMatchObject({ exitCode: 3, signal: null });
  });

  it("tells what an end right at the start means", () => {
    expect(earlyFailure({ exitCode: 0, signal: null })).toBeUndefined();
    expect(earlyFailure({ exitCode: 127, signal: null })?.code).toBe("not-started");
    expect(earlyFailure({ exitCode: null, signal: "SIGSEGV" })?.reason).toContain("SIGSEGV");
  });
});
