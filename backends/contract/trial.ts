import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { waitUntil } from "../../src/util/wait.js";
import type {
  TeammateExecutor,
  TeammateMessage,
  TeammateSpawnConfig,
  TeammateSpawnResult,
} from "../types.js";
import { type ContractPrograms, type ContractTools, type ExecutorHarness, posixPrograms } from "./harness.js";

/** The teammate of a case that needs only one. */
export const scout = "scout@team";

/** How long a case waits for what must happen, in milliseconds. */
export const patienceMs = 20_000;

export type Started = Extract<TeammateSpawnResult<string>, { ok: true }>;

/** What a case has at hand. */
export interface Trial {
  /** An empty directory of the case. */
  readonly dir: string;
  readonly executor: TeammateExecutor<string>;
  readonly programs: ContractPrograms;
  /** What was put into mailboxes so far. */
  readonly delivered: readonly { readonly agentId: string; readonly message: TeammateMessage }[];
  successor(): TeammateExecutor<string> | undefined;
  /** A configuration of {@link scout}, who stays, with a run directory of its own. */
  config(overrides?: Partial<TeammateSpawnConfig>): TeammateSpawnConfig;
  /** Spawns, which must succeed. */
  started(overrides?: Partial<TeammateSpawnConfig>): Promise<Started>;
  /** Waits until {@link scout} is gone. */
  ended(): Promise<void>;
  /** Nothing is visible that was not there before, and the other way round. */
  leftNothing(): Promise<void>;
}

/** Checks by the promise that each looks at. */
export type Checks = Readonly<Record<string, (trial: Trial) => Promise<void>>>;

/** Runs a check with an executor made for it; ends its teammates, closes and disposes on every path. */
export async function runTrial(
  makeHarness: (tools: ContractTools) => ExecutorHarness | Promise<ExecutorHarness>,
  check: Checks[string],
): Promise<void> {
  const dir = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "troupe-")));
  try {
    const delivered: { agentId: string; message: TeammateMessage }[] = [];
    const harness = await makeHarness({
      dir,
      deliver: async (agentId, message) => void delivered.push({ agentId, message }),
    });
    const spawned = new Set<string>();
    const work = async () => {
      const before = await harness.places?.();
      await check(trialOf(harness, { dir, delivered, before, spawned }));
    };
    const [worked] = await Promise.allSettled([work()]);
    const [takenDown] = await Promise.allSettled([takeDown(harness, spawned)]);
    // What the check found comes first: it may be why the rest fails, too.
    for (const outcome of [worked, takenDown]) if (outcome.status === "rejected") throw outcome.reason;
  } finally {
    fs.rmSync(dir, { recursive: true, force: true });
  }
}

/** A launch of another program. */
export function argv(...words: readonly string[]) {
  return { launch: { kind: "argv", argv: words } } as const;
}

function trialOf(
  harness: ExecutorHarness,
  { dir, delivered, before, spawned }: Pick<Trial, "dir" | "delivered"> & TrialState,
): Trial {
  const { executor, programs = posixPrograms } = harness;
  const config: Trial["config"] = (overrides = {}) => {
    const runDir = path.join(dir, "run", randomBytes(4).toString("hex"));
    fs.mkdirSync(runDir, { recursive: true, mode: 0o700 });
    const made: TeammateSpawnConfig = {
      agentId: scout,
      name: "scout",
      team: "team",
      colour: 33,
      cwd: dir,
      env: { PATH: process.env["PATH"] ?? "", HOME: dir },
      ...argv(...programs.stays),
      runDir,
      placement: { layout: "main-vertical", leadWidth: 40, maxPanesPerWindow: 9 },
      deadlineMs: 10_000,
      ...overrides,
    };
    spawned.add(made.agentId);
    return made;
  };
  return {
    dir,
    executor,
    programs,
    delivered,
    config,
    successor: () => harness.successor?.(),
    async started(overrides) {
      const result = await executor.spawn(config(overrides));
      if (!result.ok) assert.fail(`${result.code}: ${result.reason}\n${result.screen}`);
      return result;
    },
    async ended() {
      const isGone = async () => (await executor.isActive(scout)) === "gone";
      await waitUntil("the end of the teammate", isGone, { timeoutMs: patienceMs });
    },
    async leftNothing() {
      assert.deepEqual(await harness.places?.(), before, "what is visible of teammates");
    },
  };
}

interface TrialState {
  readonly before: readonly string[] | undefined;
  readonly spawned: Set<string>;
}

async function takeDown({ executor, dispose }: ExecutorHarness, spawned: ReadonlySet<string>) {
  try {
    await Promise.all(Array.from(spawned, (agentId) => executor.kill(agentId)));
    await executor.close?.();
  } finally {
    await dispose?.();
  }
}
