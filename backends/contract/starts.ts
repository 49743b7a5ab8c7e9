import assert from "node:assert/strict";
import path from "node:path";
import type { SpawnFailure } from "../spawn-failure.js";
import type { TeammateSpawnResult } from "../types.js";
import { argv, type Checks, scout } from "./trial.js";

/** Starts that fail, are given up, or come twice. */
export const starts: Checks = {
  async "explains a program, a directory or an argument that is no good, and leaves nothing"(trial) {
    const { executor, programs, dir } = trial;
    const bad = [
      [argv("troupe-no-such-program"), "program-missing"],
      [{ cwd: path.join(dir, "missing") }, "cwd-missing"],
      [argv(...programs.stays, "a\0b"), "nul-in-argument"],
    ] as const;
    for (const [overrides, code] of bad) {
      const { reason } = refusal(await executor.spawn(trial.config(overrides)), code);
      assert.notEqual(reason, "");
    }
    assert.equal(await executor.isActive(scout), "gone");
    await trial.leftNothing();
  },

  async "takes an end with a failure right at the start for a failed start"(trial) {
    const result = await trial.executor.spawn(trial.config(argv(...trial.programs.exits(3))));
    assert.match(refusal(result, "exited").reason, /3/);
    await trial.leftNothing();
  },

  async "starts nothing for a caller that has given up"({ executor, config, leftNothing }) {
    refusal(await executor.spawn(config(), AbortSignal.abort(new Error("enough"))), "aborted");
    assert.equal(await executor.isActive(scout), "gone");
    await leftNothing();
  },

  async "gives a start up that is under way when its teammate is killed"({ executor, config, leftNothing }) {
    const starting = executor.spawn(config());
    assert.deepEqual((await executor.kill(scout)).survivors, []);
    await starting;
    assert.equal(await executor.isActive(scout), "gone");
    await leftNothing();
  },

  async "starts a teammate once when it is asked to twice at once"({ executor, config }) {
    const results = await Promise.all([executor.spawn(config()), executor.spawn(config())]);
    assert.deepEqual(
      results.map((result) => (result.ok ? "ok" : result.code)),
      ["ok", "already-running"],
    );
  },
};

/** The failure that a spawn must have ended with. */
export function refusal(result: TeammateSpawnResult<string>, code: string): SpawnFailure {
  if (result.ok) assert.fail(`it was started; ${code} was expected`);
  assert.equal(result.code, code, result.reason);
  return result;
}
