import { AssertionError } from "node:assert";
import fs from "node:fs";
import { describe, expect, it } from "vitest";
import {
  type ContractTools,
  type ExecutorHarness,
  executorContract,
  submitTextContract,
} from "../../backends/contract/index.js";
import { createInProcessExecutor } from "../../backends/in-process.js";
import { outputLogOf } from "../../backends/output-log.js";
import type {
  KillReport,
  TeammateExecutor,
  TeammateSpawnConfig,
  TeammateSpawnResult,
} from "../../backends/types.js";

const nothing: KillReport = { found: [], ended: [], survivors: [] };

/** By promise: what breaks it, in an executor that keeps all others. */
const faults: Readonly<Record<string, (good: TeammateExecutor) => Partial<TeammateExecutor>>> = {
  "says that it is available": () => ({
    isAvailable: async () => ({ available: false, code: "screen-missing", reason: "there is none" }),
  }),
  "starts a teammate, knows it as alive, ends it, and leaves nothing": killsNothing,
  "takes an end with code 0 right at the start for a start that went well": () => ({
    spawn: async () => ({ ok: false, code: "exited", reason: "exit code 0", screen: "" }),
  }),
  "answers for an unknown teammate as for one that has ended": () => ({ terminate: async () => true }),
  "ends a teammate twice without harm": () => ({ terminate: async () => true }),
  "asks a teammate to end, and does not wait for it": () => ({ terminate: async () => false }),
  "does not start a teammate that runs, and starts it again when it has ended": (good) => ({
    async spawn(config, signal) {
      await good.kill(config.agentId);
      return good.spawn(config, signal);
    },
  }),
  "starts eight at once and ends them at once": (good) =>
    tells(good, (result) => (result.ok ? { ...result, pid: 1 } : result)),
  "hands messages to the mailbox of the one they are for": () => ({ sendMessage: async () => undefined }),
  "shows the last lines of a teammate, printable": (good) => ({
    capture: async (agentId) => good.capture?.(agentId, 5) ?? "",
  }),
  "ends no teammate when it is closed": (good) => ({
    close: async () => void (await good.kill("scout@team")),
  }),
  "lets a later executor take over": () => ({ adopt: async () => false }),
  "explains a program, a directory or an argument that is no good, and leaves nothing": (good) =>
    tells(good, (result) => (result.ok ? result : { ...result, code: "backend-failed" })),
  "takes an end with a failure right at the start for a failed start": startsAlways,
  "starts nothing for a caller that has given up": hearsNoSignal,
  "gives a start up that is under way when its teammate is killed": killsNothing,
  "starts a teammate once when it is asked to twice at once": startsAlways,
  "gives a program its arguments, environment and directory, byte for byte": (good) =>
    starts(good, (config) => ({ env: { ...config.env, EXTRA: "1" } })),
  "leaves no secret where others can read it": (good) =>
    starts(good, ({ env }) => runs("sleep 300; :", env["SECRET"] ?? "")),
  "records how the program ended": (good) =>
    starts(good, ({ launch }) => runs('"$@"; exit 0', ...launch.argv)),
  "tells what the program showed before it failed": (good) =>
    tells(good, (result) => (result.ok ? result : { ...result, screen: "" })),
  "keeps what a program shows in output.log": (good) =>
    tells(good, (result) => {
      if (result.ok) fs.chmodSync(outputLogOf(result.ref.runDir), 0o644);
      return result;
    }),
  "is not kept from ending a program by what that puts into its run directory": (good) => ({
    async kill(agentId) {
      await good.kill(agentId);
      return nothing;
    },
  }),
  "gives back everything when its caller gives up while it starts": hearsNoSignal,
  "leaves nothing of a program whose teammate is killed just as it starts": killsNothing,
  "leaves a descendant alone that is to be kept, and ends the rest": (good) => ({
    killExcept: (agentId) => good.kill(agentId),
  }),
  "tells what it was to keep as kept if it runs, and otherwise as lost": (good) => ({
    async killExcept(agentId, keep) {
      const { kept, ...report } = (await good.killExcept?.(agentId, keep)) ?? nothing;
      return report;
    },
  }),
  "ends a descendant in a session of its own": killsTheRoot,
  "ends a descendant that outlives its terminal": killsTheRoot,
  "ends a descendant given to init": killsTheRoot,
  "ends a descendant that ignores TERM and HUP": killsTheRoot,
  "ends a descendant that is stopped": killsTheRoot,
};

describe("a promise of the executor contract", { concurrent: true }, () => {
  const cases = executorContract((tools) => harness(tools, () => ({})));

  it("is seen broken below, each of them", () => {
    expect(Object.keys(faults)).toEqual(cases.map(({ name }) => name));
    expect(new Set(Object.keys(faults)).size).toBe(cases.length);
  });

  it.for(Object.entries(faults))("is seen to be broken: %s", async ([name, fault]) => {
    let ends = 0;
    const dirs: string[] = [];
    const broken = executorContract((tools) => {
      dirs.push(tools.dir);
      const made = harness(tools, fault);
      return { ...made, dispose: () => made.dispose?.()?.then(() => void ends++) };
    });
    const run = broken.find((one) => one.name === name)?.run;
    await expect(run?.()).rejects.toThrow(AssertionError);
    expect({ ends, left: dirs.filter((dir) => fs.existsSync(dir)) }).toEqual({ ends: 1, left: [] });
  });

  it("is broken by what stays to be seen of a teammate", async () => {
    let looks = 0;
    const places = () => [`look ${Math.min(looks++, 1)}`];
    const broken = executorContract((tools) => ({ ...harness(tools, () => ({})), places }));
    const names = ["starts a teammate, knows it as alive, ends it, and leaves nothing"];
    const [first] = broken.filter(({ name }) => names.includes(name));
    await expect(first?.run()).rejects.toThrow(/what is visible of teammates/);
  });
});

describe("a promise of typing", { concurrent: true }, () => {
  const untried = { outcome: "unknown", reason: "it was not tried" } as const;
  const broken = submitTextContract((tools) => harness(tools, () => ({ submitText: async () => untried })));

  it.for(broken.map(({ name, run }) => [name, run] as const))("is seen to be broken: %s", async ([, run]) => {
    await expect(run()).rejects.toThrow(AssertionError);
  });
});

/** A good executor with a fault; it is the good one that ends what the other left. */
function harness({ deliver }: ContractTools, fault: (good: TeammateExecutor) => Partial<TeammateExecutor>) {
  const good = createInProcessExecutor({ run: async () => undefined, deliver, graceMs: 400 });
  const executor = { ...good, ...fault(good) };
  const ids = ["scout@team", ...Array.from({ length: 8 }, (_, index) => `mate${index}@team`)];
  return {
    executor,
    successor: () => executor,
    dispose: async () => void (await Promise.all(ids.map((agentId) => good.kill(agentId)))),
  } satisfies ExecutorHarness;
}

function starts(
  good: TeammateExecutor,
  change: (config: TeammateSpawnConfig) => Partial<TeammateSpawnConfig>,
) {
  return { spawn: (config: TeammateSpawnConfig) => good.spawn({ ...config, ...change(config) }) };
}

function runs(script: string, ...words: readonly string[]) {
  return { launch: { kind: "argv", argv: ["/bin/sh", "-c", script, "sh", ...words] } } as const;
}

function tells(good: TeammateExecutor, change: (result: TeammateSpawnResult) => TeammateSpawnResult) {
  return {
    spawn: async (config: TeammateSpawnConfig, signal?: AbortSignal) =>
      change(await good.spawn(config, signal)),
  };
}

function startsAlways(good: TeammateExecutor): Partial<TeammateExecutor> {
  const ref = { backend: "in-process", agentId: "scout@team", runDir: "/" } as const;
  return tells(good, () => ({ ok: true, pid: 1, ref }));
}

function hearsNoSignal(good: TeammateExecutor): Partial<TeammateExecutor> {
  return { spawn: (config) => good.spawn(config) };
}

function killsNothing(): Partial<TeammateExecutor> {
  return { kill: async () => nothing };
}

/** And tells that it ended everything. */
function killsTheRoot(good: TeammateExecutor): Partial<TeammateExecutor> {
  let pid = 0;
  return {
    ...tells(good, (result) => {
      if (result.ok) pid = result.pid;
      return result;
    }),
    async kill() {
      process.kill(pid, "SIGKILL");
      const ended = Array.from({ length: 20 }, () => ({ pid, command: "sh" }));
      return { found: ended, ended, survivors: [] };
    },
  };
}
