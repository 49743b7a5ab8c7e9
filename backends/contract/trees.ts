import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { identityOf, liveness } from "../../src/util/process-identity.js";
import { waitUntil } from "../../src/util/wait.js";
import { runIdOf } from "../environment.js";
import { endTree, findTree } from "../process-tree.js";
import { refusal } from "./starts.js";
import { argv, type Checks, patienceMs, scout, type Trial } from "./trial.js";

/** That everything ends which a teammate has started, and whatever was begun for it. */
export const trees: Checks = {
  async "gives back everything when its caller gives up while it starts"({ executor, config, leftNothing }) {
    const made = config();
    const controller = new AbortController();
    const spawning = executor.spawn(made, controller.signal);
    controller.abort(new Error("enough"));
    refusal(await spawning, "aborted");
    assert.equal(await executor.isActive(scout), "gone");
    assert.deepEqual(findTree({ runId: runIdOf(made.runDir) }), []);
    await leftNothing();
  },

  async "leaves nothing of a program whose teammate is killed just as it starts"(trial) {
    const { executor, config, leftNothing } = trial;
    const made = config();
    const runId = runIdOf(made.runDir);
    const starting = executor.spawn(made);
    const isBorn = () => findTree({ runId }).length > 0;
    await waitUntil("a process", isBorn, { timeoutMs: patienceMs, everyMs: 2 });
    assert.deepEqual((await executor.kill(scout)).survivors, []);
    await starting;
    assert.deepEqual(findTree({ runId }), []);
    assert.equal(await executor.isActive(scout), "gone");
    await leftNothing();
  },

  async "leaves a descendant alone that is to be kept, and ends the rest"(trial) {
    const { executor, leftNothing } = trial;
    if (executor.killExcept === undefined) return;
    const { ref, stray } = await withStray(trial, "setsid ");
    try {
      const { ended, survivors, kept } = await executor.killExcept(scout, [stray]);
      assert.deepEqual(
        kept?.map(({ pid }) => pid),
        [stray.pid],
      );
      assert.notEqual(ended.length, 0);
      assert.deepEqual(survivors, []);
      assert.equal(liveness(stray), "alive");
      assert.equal(await executor.isActive(scout), "gone");
      await leftNothing();
    } finally {
      await endTree({ root: stray, runId: runIdOf(ref.runDir) }, { graceMs: 500 });
    }
  },

  async "tells what it was to keep as kept if it runs, and otherwise as lost"(trial) {
    const { executor, leftNothing } = trial;
    if (executor.killExcept === undefined) return;
    const { ref, stray } = await withStray(trial, "");
    try {
      const { survivors, kept = [], lost = [] } = await executor.killExcept(scout, [stray]);
      const told = { kept: kept.map(({ pid }) => pid), lost: lost.map(({ pid }) => pid) };
      const runs = liveness(stray) === "alive";
      assert.deepEqual(told, runs ? { kept: [stray.pid], lost: [] } : { kept: [], lost: [stray.pid] });
      assert.deepEqual(survivors, []);
      await leftNothing();
    } finally {
      await endTree({ root: stray, runId: runIdOf(ref.runDir) }, { graceMs: 500 });
    }
  },

  "ends a descendant in a session of its own": endsDescendant("setsid sleep 300"),
  "ends a descendant that outlives its terminal": endsDescendant("nohup sleep 300 >/dev/null 2>&1"),
  "ends a descendant given to init": endsDescendant("(setsid sh -c 'sleep 300 & exit' &)"),
  "ends a descendant that ignores TERM and HUP": endsDescendant(
    "trap '' TERM HUP; sh -c 'trap \"\" TERM HUP; sleep 300'",
  ),
  "ends a descendant that is stopped": endsDescendant("sh -c 'kill -STOP $$'"),
};

/** Starts a teammate with a sleep in the background, behind what is to start it, and gives that. */
async function withStray({ dir, started }: Trial, starter: "" | "setsid ") {
  const mark = path.join(dir, "mark");
  const script = `${starter}sleep 300 & echo $! >${mark}.part; mv ${mark}.part ${mark}; sleep 300`;
  const { ref } = await started(argv("/bin/sh", "-c", script));
  await waitUntil("the start", () => fs.existsSync(mark), { timeoutMs: patienceMs });
  const stray = identityOf(Number(fs.readFileSync(mark, "utf8")));
  assert.ok(stray, "its descendant has ended by itself");
  return { ref, stray };
}

/** A check that kills a teammate which runs `command` in the background, and looks for what is left of it. */
function endsDescendant(command: string) {
  return async ({ dir, executor, started, leftNothing }: Trial): Promise<void> => {
    const mark = path.join(dir, "mark");
    const { ref } = await started(argv("/bin/sh", "-c", `${command} & echo started >${mark}; sleep 300`));
    await waitUntil("the start", () => fs.existsSync(mark), { timeoutMs: patienceMs });
    const root = ref.process === undefined ? {} : { root: ref.process };
    const look = () => {
      const found = findTree({ ...root, runId: runIdOf(ref.runDir) });
      return found.some(({ command: line }) => line.includes("sleep 300")) && found;
    };
    const members = await waitUntil("the descendant", look, { timeoutMs: patienceMs });
    const killed = await executor.kill(scout);
    assert.deepEqual(killed.survivors, []);
    assert.ok(killed.ended.length >= members.length, "it tells fewer than there were");
    assert.deepEqual(
      members.filter(({ identity }) => liveness(identity) !== "gone"),
      [],
    );
    await leftNothing();
  };
}
