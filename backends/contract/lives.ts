import assert from "node:assert/strict";
import { waitUntil } from "../../src/util/wait.js";
import { argv, type Checks, patienceMs, scout } from "./trial.js";

const nothing = { found: [], ended: [], survivors: [] };

/** From the start of a teammate to its end, and what can be done with it between. */
export const lives: Checks = {
  async "says that it is available"({ executor }) {
    const { available, code, reason } = await executor.isAvailable();
    assert.deepEqual({ available, code }, { available: true, code: "ok" }, reason);
  },

  async "starts a teammate, knows it as alive, ends it, and leaves nothing"({
    executor,
    started,
    leftNothing,
  }) {
    const { ref, pid } = await started();
    assert.equal(ref.backend, executor.type);
    assert.equal(ref.agentId, scout);
    assert.ok(pid > 0);
    assert.deepEqual(JSON.parse(JSON.stringify(ref)), ref, "the ref is plain JSON");
    assert.equal(await executor.isActive(scout), "alive");
    const report = await executor.kill(scout);
    assert.deepEqual(report.survivors, []);
    assert.notEqual(report.found.length, 0);
    assert.equal(report.ended.length, report.found.length);
    assert.equal(await executor.isActive(scout), "gone");
    await leftNothing();
  },

  async "takes an end with code 0 right at the start for a start that went well"(trial) {
    await trial.started(argv(...trial.programs.exits(0)));
    await trial.ended();
    await trial.executor.kill(scout);
    await trial.leftNothing();
  },

  async "answers for an unknown teammate as for one that has ended"({ executor }) {
    assert.equal(await executor.isActive("nobody@team"), "gone");
    assert.equal(await executor.terminate("nobody@team"), false);
    assert.deepEqual(await executor.kill("nobody@team"), nothing);
    assert.equal((await executor.capture?.("nobody@team", 5)) ?? "", "");
    await executor.focus?.("nobody@team");
    await executor.showState?.("nobody@team", "idle");
  },

  async "ends a teammate twice without harm"({ executor, started, leftNothing }) {
    await started();
    const reports = await Promise.all([executor.kill(scout), executor.kill(scout)]);
    assert.deepEqual(
      reports.flatMap(({ survivors }) => survivors),
      [],
    );
    assert.deepEqual(await executor.kill(scout), nothing);
    assert.equal(await executor.terminate(scout), false);
    await leftNothing();
  },

  async "asks a teammate to end, and does not wait for it"({ executor, started, ended }) {
    await started();
    assert.equal(await executor.terminate(scout, "test"), true);
    await ended();
    assert.equal(await executor.terminate(scout), false);
  },

  async "does not start a teammate that runs, and starts it again when it has ended"(trial) {
    const { executor, started } = trial;
    await started();
    const again = await executor.spawn(trial.config());
    assert.equal(again.ok ? "ok" : again.code, "already-running");
    assert.equal(await executor.isActive(scout), "alive");
    await executor.kill(scout);
    await started();
    assert.equal(await executor.isActive(scout), "alive");
  },

  async "starts eight at once and ends them at once"({ executor, config, leftNothing }) {
    const names = Array.from({ length: 8 }, (_, index) => `mate${index}`);
    const ids = names.map((name) => `${name}@team`);
    const configs = names.map((name) => config({ agentId: `${name}@team`, name }));
    const results = await Promise.all(configs.map((made) => executor.spawn(made)));
    assert.deepEqual(
      results.filter((result) => !result.ok),
      [],
    );
    assert.equal(new Set(results.map((result) => result.ok && result.pid)).size, ids.length);
    const reports = await Promise.all(ids.map((agentId) => executor.kill(agentId)));
    assert.deepEqual(
      reports.flatMap(({ survivors }) => survivors),
      [],
    );
    await leftNothing();
  },

  async "hands messages to the mailbox of the one they are for"({ executor, delivered }) {
    await executor.sendMessage(scout, { body: "hello" });
    assert.deepEqual(delivered, [{ agentId: scout, message: { body: "hello" } }]);
  },

  async "shows the last lines of a teammate, printable"({ executor, programs, started }) {
    if (executor.capture === undefined) return;
    await started(argv(...programs.says("first\nlast \u00fcber")));
    const look = async () => {
      const text = await executor.capture?.(scout, 1);
      return text?.includes("\u00fcber") && text;
    };
    assert.equal(await waitUntil("the text", look, { timeoutMs: patienceMs }), "last \u00fcber");
  },

  async "ends no teammate when it is closed"({ executor, started }) {
    if (executor.close === undefined) return;
    await started();
    await executor.close();
    assert.equal(await executor.isActive(scout), "alive");
    assert.deepEqual((await executor.kill(scout)).survivors, []);
  },

  async "lets a later executor take over"({ executor, started, leftNothing, ...trial }) {
    if (executor.adopt === undefined) return;
    const successor = trial.successor();
    assert.ok(successor?.adopt, "the harness gives no successor that can adopt");
    const { ref } = await started();
    assert.equal(await successor.adopt(JSON.parse(JSON.stringify(ref))), true);
    assert.equal(await successor.isActive(scout), "alive");
    assert.deepEqual((await successor.kill(scout)).survivors, []);
    await leftNothing();
    assert.equal(await successor.adopt(ref), false);
    assert.equal(await executor.isActive(scout), "gone");
  },
};
