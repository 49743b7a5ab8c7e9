import { randomBytes } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runIdOf } from "../../backends/environment.js";
import { findTree } from "../../backends/process-tree.js";
import { readExit } from "../../backends/records.js";
import type { TeammateExecutor, TeammateMessage, TeammateSpawnConfig } from "../../backends/types.js";
import { liveness } from "../../src/util/process-identity.js";
import { waitUntil } from "../../src/util/wait.js";
import { awkward } from "./awkward.js";
import { readIfThere, readJson } from "./read-seen.js";

/** What the suite needs to know of an executor under test. */
export interface ExecutorHarness {
  /** Made anew for every test; what it delivers arrives in `delivered`. */
  readonly executor: TeammateExecutor;
  readonly delivered: readonly { readonly agentId: string; readonly message: TeammateMessage }[];
  /** Another executor that could take over from the first; where `adopt` is offered. */
  successor?(): TeammateExecutor;
  /** Argument vectors with these behaviours. */
  readonly programs: {
    readonly stays: readonly string[];
    says(text: string): readonly string[];
    exits(code: number): readonly string[];
  };
  /** Whatever is visible of teammates outside of their processes, such as panes; compared around a test. */
  places(): readonly string[];
  dispose(): Promise<void>;
}

/** Base of all run directories of a test, and a maker of configurations in it. */
export interface ContractTools {
  readonly dir: string;
  config(overrides?: Partial<TeammateSpawnConfig>): TeammateSpawnConfig;
}

/** The promises that every executor keeps; those about processes, where teammates are processes of the machine. */
export function runExecutorContract(
  name: string,
  makeHarness: (tools: ContractTools) => ExecutorHarness | Promise<ExecutorHarness>,
  { hasProcesses }: { readonly hasProcesses: boolean } = { hasProcesses: true },
): void {
  describe(`executor contract: ${name}`, () => {
    let dir: string;
    let harness: ExecutorHarness;
    let executor: TeammateExecutor;
    let before: readonly string[];

    const config = (overrides: Partial<TeammateSpawnConfig> = {}): TeammateSpawnConfig => {
      const runDir = path.join(dir, "run", randomBytes(4).toString("hex"));
      fs.mkdirSync(runDir, { recursive: true, mode: 0o700 });
      const stays = harness?.programs.stays ?? [];
      return {
        agentId: "scout@team",
        name: "scout",
        team: "team",
        colour: 33,
        cwd: dir,
        env: { PATH: process.env["PATH"] ?? "", HOME: dir },
        launch: { kind: "argv", argv: stays },
        runDir,
        placement: { layout: "main-vertical", leadWidth: 40, maxPanesPerWindow: 9 },
        deadlineMs: 10_000,
        ...overrides,
      };
    };
    const argv = (...words: readonly string[]) => ({ launch: { kind: "argv", argv: words } }) as const;
    const node = (code: string, ...rest: readonly string[]) =>
      argv(process.execPath, "-e", code, "--", ...rest);

    beforeEach(async () => {
      dir = fs.mkdtempSync(path.join(os.tmpdir(), "troupe-"));
      harness = await makeHarness({ dir, config });
      ({ executor } = harness);
      before = harness.places();
    });

    afterEach(async () => {
      await harness.dispose();
      fs.rmSync(dir, { recursive: true, force: true });
    });

    async function started(overrides: Partial<TeammateSpawnConfig> = {}) {
      const result = await executor.spawn(config(overrides));
      if (!result.ok) throw new Error(`${result.code}: ${result.reason}\n${result.screen}`);
      return result;
    }

    const ended = () =>
      waitUntil("the end", async () => (await executor.isActive("scout@team")) === "gone", {
        timeoutMs: 20_000,
      });

    it("says that it is available", async () => {
      const answer = await executor.isAvailable();
      expect(answer, answer.reason).toMatchObject({ available: true, code: "ok" });
    });

    it("starts a teammate, knows it as alive, ends it, and leaves nothing", async () => {
      const result = await started();
      expect(result.ref).toMatchObject({ backend: executor.type, agentId: "scout@team" });
      expect(JSON.parse(JSON.stringify(result.ref))).toEqual(result.ref);
      expect(await executor.isActive("scout@team")).toBe("alive");
      const report = await executor.kill("scout@team");
      expect(report.survivors).toEqual([]);
      expect(report.found.length).toBeGreaterThan(0);
      expect(report.ended).toHaveLength(report.found.length);
      expect(await executor.isActive("scout@team")).toBe("gone");
      expect(harness.places()).toEqual(before);
    });

    it("takes an end with code 0 right at the start for a start that went well", async () => {
      await started(argv(...harness.programs.exits(0)));
      await ended();
      await executor.kill("scout@team");
      expect(harness.places()).toEqual(before);
    });

    it("answers for an unknown teammate as for one that has ended", async () => {
      expect(await executor.isActive("nobody@team")).toBe("gone");
      expect(await executor.terminate("nobody@team")).toBe(false);
      expect(await executor.kill("nobody@team")).toEqual({ found: [], ended: [], survivors: [] });
      expect(await executor.capture?.("nobody@team", 5)).toSatisfy(
        (text) => text === undefined || text === "",
      );
      await executor.focus?.("nobody@team");
    });

    it("ends a teammate twice without harm", async () => {
      await started();
      const reports = await Promise.all([executor.kill("scout@team"), executor.kill("scout@team")]);
      expect(reports.flatMap((report) => report.survivors)).toEqual([]);
      expect(await executor.kill("scout@team")).toEqual({ found: [], ended: [], survivors: [] });
      expect(await executor.terminate("scout@team")).toBe(false);
      expect(harness.places()).toEqual(before);
    });

    it("asks a teammate to end, and does not wait for it", async () => {
      await started();
      expect(await executor.terminate("scout@team", "test")).toBe(true);
      await ended();
      expect(await executor.terminate("scout@team")).toBe(false);
    });

    it("does not start a teammate that runs, and starts it again when it has ended", async () => {
      await started();
      expect(await executor.spawn(config())).toMatchObject({ ok: false, code: "already-running" });
      expect(await executor.isActive("scout@team")).toBe("alive");
      await executor.kill("scout@team");
      await started();
      expect(await executor.isActive("scout@team")).toBe("alive");
    });

    it("explains a program, a directory or an argument that is no good, and leaves nothing", async () => {
      const cases = [
        [argv("troupe-no-such-program"), "program-missing"],
        [{ cwd: path.join(dir, "missing") }, "cwd-missing"],
        [argv(...harness.programs.stays, "a\0b"), "nul-in-argument"],
      ] as const;
      for (const [overrides, code] of cases) {
        const result = await executor.spawn(config(overrides));
        expect(result).toMatchObject({ ok: false, code });
        expect(result.ok || result.reason).not.toBe("");
      }
      expect(await executor.isActive("scout@team")).toBe("gone");
      expect(harness.places()).toEqual(before);
    });

    it("takes an end with a failure right at the start for a failed start", async () => {
      const result = await executor.spawn(config(argv(...harness.programs.exits(3))));
      expect(result).toMatchObject({ ok: false, code: "exited" });
      expect(result.ok || result.reason).toContain("3");
      expect(harness.places()).toEqual(before);
    });

    it("starts nothing for a caller that has given up", async () => {
      const result = await executor.spawn(config(), AbortSignal.abort(new Error("enough")));
      expect(result).toMatchObject({ ok: false, code: "aborted" });
      expect(await executor.isActive("scout@team")).toBe("gone");
      expect(harness.places()).toEqual(before);
    });

    it("gives a start up that is under way when its teammate is killed", async () => {
      const starting = executor.spawn(config());
      expect((await executor.kill("scout@team")).survivors).toEqual([]);
      await starting;
      expect(await executor.isActive("scout@team")).toBe("gone");
      expect(harness.places()).toEqual(before);
    });

    it("starts a teammate once when it is asked to twice at once", async () => {
      const results = await Promise.all([executor.spawn(config()), executor.spawn(config())]);
      expect(results.map((result) => (result.ok ? "ok" : result.code))).toEqual(["ok", "already-running"]);
    });

    it("starts eight at once and ends them at once", async () => {
      const ids = Array.from({ length: 8 }, (_, index) => `mate${index}@team`);
      const results = await Promise.all(
        ids.map((agentId, index) => executor.spawn(config({ agentId, name: `mate${index}` }))),
      );
      expect(results.filter((result) => !result.ok)).toEqual([]);
      expect(new Set(results.map((result) => result.ok && result.pid)).size).toBe(8);
      const reports = await Promise.all(ids.map((agentId) => executor.kill(agentId)));
      expect(reports.flatMap((report) => report.survivors)).toEqual([]);
      expect(harness.places()).toEqual(before);
    });

    it("hands messages to the mailbox of the one they are for", async () => {
      await executor.sendMessage("scout@team", { body: "hello" });
      expect(harness.delivered).toEqual([{ agentId: "scout@team", message: { body: "hello" } }]);
    });

    it("shows the last lines of a teammate, printable", async () => {
      if (executor.capture === undefined) return;
      await started(argv(...harness.programs.says("first\nlast \u00fcber")));
      const shown = await waitUntil(
        "the text",
        async () => {
          const text = await executor.capture?.("scout@team", 1);
          return text?.includes("über") && text;
        },
        { timeoutMs: 20_000 },
      );
      expect(shown).toBe("last über");
    });

    it("lets a later executor take over", async () => {
      const successor = harness.successor?.();
      if (successor?.adopt === undefined) return;
      const { ref } = await started();
      expect(await successor.adopt(JSON.parse(JSON.stringify(ref)))).toBe(true);
      expect(await successor.isActive("scout@team")).toBe("alive");
      expect((await successor.kill("scout@team")).survivors).toEqual([]);
      expect(harness.places()).toEqual(before);
      expect(await successor.adopt(ref)).toBe(false);
      expect(await executor.isActive("scout@team")).toBe("gone");
    });

    if (hasProcesses)
      describe("with processes", () => {
        const report = (file: string) =>
          `require("fs").writeFileSync(${JSON.stringify(file)}, JSON.stringify({env: process.env, argv: process.argv.slice(1), cwd: process.cwd()}))`;

        it("gives a program its arguments, environment and directory, byte for byte", async () => {
          const file = path.join(dir, "seen.json");
          const cwd = path.join(dir, "dir with 'quotes' and #{pid} %d");
          fs.mkdirSync(cwd);
          const big = "x".repeat(131_000);
          const env: Record<string, string> = {
            PATH: process.env["PATH"] ?? "",
            ...Object.fromEntries(awkward.map((value, index) => [`AWKWARD_${index}`, value])),
            BIG: big,
            "odd.name": "1",
            "BASH_FUNC_f%%": "() { :; }",
            UID: "4711",
            PPID: "1",
            OPTIND: "x",
            LC_ALL: "xx_YY",
            IFS: "a",
          };
          await started({ ...node(report(file), ...awkward, big), env, cwd });
          const seen = await waitUntil("the report", () => fs.existsSync(file) && readJson(file), {
            timeoutMs: 20_000,
          });
          const { TROUPE_RUN_ID, TERM, PWD, ...rest } = seen.env;
          expect(PWD).toBe(cwd);
          expect(TROUPE_RUN_ID).toMatch(/^[0-9a-f]{16}$/);
          expect(TERM ?? "").not.toMatch(/\n/);
          expect(rest).toEqual(env);
          expect(seen.argv).toEqual([...awkward, big]);
          expect(seen.cwd).toBe(fs.realpathSync(cwd));
        });

        it("leaves no secret where others can read it", async () => {
          const { pid } = await started({ env: { PATH: process.env["PATH"] ?? "", SECRET: "hunter2" } });
          const commands = fs
            .readdirSync("/proc")
            .filter((name) => /^\d+$/.test(name))
            .map((name) => readIfThere(`/proc/${name}/cmdline`));
          expect(commands.filter((command) => command.includes("hunter2"))).toEqual([]);
          expect(pid).toBeGreaterThan(0);
        });

        it("records how the program ended", async () => {
          for (const [code, expected] of [
            ["setTimeout(() => process.exit(7), 300)", { exitCode: 7, signal: null }],
            [
              "setTimeout(() => process.kill(process.pid, 'SIGKILL'), 300)",
              { exitCode: null, signal: "SIGKILL" },
            ],
          ] as const) {
            const { ref } = await started(node(code));
            const end = await waitUntil("the exit record", () => readExit(ref.runDir), { timeoutMs: 20_000 });
            expect(end).toMatchObject(expected);
            expect(Date.parse(end.at)).not.toBeNaN();
            await executor.kill("scout@team");
          }
        });

        it("tells what the program showed before it failed", async () => {
          const result = await executor.spawn(
            config(argv("/bin/sh", "-c", "echo no licence found >&2; exit 4")),
          );
          expect(result).toMatchObject({ ok: false, code: "exited" });
          expect(!result.ok && result.screen).toContain("no licence found");
        });

        it("keeps what a program shows in output.log", async () => {
          const { ref } = await started(argv("/bin/sh", "-c", "echo one; echo two"));
          const log = path.join(ref.runDir, "output.log");
          await waitUntil("the log", () => readIfThere(log).replaceAll("\r", "") === "one\ntwo\n", {
            timeoutMs: 20_000,
          });
          expect(fs.statSync(log).mode & 0o777).toBe(0o600);
        });

        it("gives back everything when its caller gives up while it starts", async () => {
          const controller = new AbortController();
          const spawning = executor.spawn(config(), controller.signal);
          controller.abort(new Error("enough"));
          expect(await spawning).toMatchObject({ ok: false, code: "aborted" });
          expect(await executor.isActive("scout@team")).toBe("gone");
          expect(harness.places()).toEqual(before);
        });

        it("leaves nothing of a program whose teammate is killed just as it starts", async () => {
          const made = config();
          const runId = runIdOf(made.runDir);
          const starting = executor.spawn(made);
          await waitUntil("a process", () => findTree({ runId }).length > 0, {
            timeoutMs: 20_000,
            everyMs: 2,
          });
          expect((await executor.kill("scout@team")).survivors).toEqual([]);
          await starting;
          expect(findTree({ runId })).toEqual([]);
          expect(await executor.isActive("scout@team")).toBe("gone");
          expect(harness.places()).toEqual(before);
        });

        it("is not kept from ending a program by what that puts into its run directory", async () => {
          const made = config();
          const { runDir } = made;
          const files = ["launch.sh", "exit.json", "ready.json", "output.log"].join(" ");
          const harm = `cd "$1"; rm -f ${files}; mkdir ${files}; touch launch.sh/x exit.json/x; echo >done; exec sleep 300`;
          const starting = executor.spawn({ ...made, ...argv("/bin/sh", "-c", harm, "harm", runDir) });
          expect(await starting).toMatchObject({ ok: true });
          await waitUntil("the harm", () => fs.existsSync(path.join(runDir, "done")), { timeoutMs: 20_000 });
          expect(await executor.capture?.("scout@team", 5)).toBe("");
          const killed = await executor.kill("scout@team");
          expect(killed).toMatchObject({
            ended: [expect.anything(), ...killed.ended.slice(1)],
            survivors: [],
          });
          expect(await executor.isActive("scout@team")).toBe("gone");
          expect(harness.places()).toEqual(before);
        });

        it.each([
          ["in a session of its own", "setsid sleep 300"],
          ["that outlives its terminal", "nohup sleep 300 >/dev/null 2>&1"],
          ["given to init", "(setsid sh -c 'sleep 300 & exit' &)"],
          ["that ignores TERM and HUP", "trap '' TERM HUP; sh -c 'trap \"\" TERM HUP; sleep 300'"],
          ["that is stopped", "sh -c 'kill -STOP $$'"],
        ])("ends a descendant %s", async (_, command) => {
          const mark = path.join(dir, "mark");
          const { ref } = await started(
            argv("/bin/sh", "-c", `${command} & echo started >${mark}; sleep 300`),
          );
          await waitUntil("the start", () => fs.existsSync(mark), { timeoutMs: 20_000 });
          const tree = () => {
            return findTree({
              ...(ref.process === undefined ? {} : { root: ref.process }),
              runId: runIdOf(ref.runDir),
            });
          };
          const members = await waitUntil(
            "the descendant",
            async () => {
              const found = tree();
              return found.filter(({ command: text }) => text.includes("sleep 300")).length >= 1 && found;
            },
            { timeoutMs: 20_000 },
          );
          const killed = await executor.kill("scout@team");
          expect(killed.survivors).toEqual([]);
          expect(killed.ended.length).toBeGreaterThanOrEqual(members.length);
          expect(members.filter((member) => liveness(member.identity) !== "gone")).toEqual([]);
          expect(harness.places()).toEqual(before);
        });
      });
  });
}
