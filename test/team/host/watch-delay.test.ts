import { expect, it, onTestFinished } from "vitest";
import { watchDelay } from "../../../src/team/host/watch-delay.js";
import { runAs } from "../../../src/util/context.js";
import { delay } from "../../../src/util/wait.js";
import { until } from "../../helpers/until.js";
import { makeLivingTeam } from "../living-team.js";
import { hostContext } from "./host-context.js";

/** Two agents in this process, whose event loop is watched. Work of theirs is done until the test is over. */
async function watched() {
  const team = await makeLivingTeam();
  const context = await hostContext(team);
  for (const name of ["ada", "bob"]) {
    const { ref: _ref, ...member } = team.member(name);
    await context.roster.put({ ...member, state: "working" });
  }
  const over = new AbortController();
  const limits = { boundMs: 60, everyMs: 100, searchMs: 60_000, quietMs: 600_000, leastBusy: 0.1 };
  const running: Promise<void>[] = [watchDelay(context, over.signal, limits)];
  onTestFinished(async () => {
    over.abort();
    await Promise.all(running);
  });
  const repeat = (name: string, work: () => void): void => {
    const { agentId, incarnation } = team.member(name);
    const loop = async (): Promise<void> => {
      while (!over.signal.aborted) {
        await delay(30);
        work();
        times.set(name, (times.get(name) ?? 0) + 1);
      }
    };
    running.push(runAs({ agentId, incarnation }, loop));
  };
  const times = new Map<string, number>();
  const told = () => context.events.flatMap((event) => (event.type === "notice" ? event : []));
  const worked = (name: string, count: number) =>
    until(() => (times.get(name) ?? 0) >= count, `${name}'s work`);
  return { repeat, told, worked, times };
}

function compute(ms: number): void {
  const { user, system } = process.cpuUsage();
  const end = user + system + ms * 1_000;
  for (let now = 0; now < end; ) {
    const usage = process.cpuUsage();
    now = usage.user + usage.system;
  }
}

it("who keeps the others in the process waiting is told of by name, once; the others are not", async () => {
  const { repeat, told, worked, times } = await watched();
  repeat("bob", () => compute(1));
  repeat("ada", () => compute(150));
  await until(() => told().length > 0, "the news");
  const text = expect.stringMatching(
    /^ada kept everybody in this process waiting for \d{3,} ms at a stretch$/,
  );
  await worked("ada", (times.get("ada") ?? 0) + 5);
  expect(told()).toMatchObject([{ name: "ada", level: "warning", text }]);
});

it("a process that gets no processor is no member's doing", async () => {
  const { repeat, told, worked } = await watched();
  const cell = new Int32Array(new SharedArrayBuffer(4));
  repeat("ada", () => void Atomics.wait(cell, 0, 0, 200));
  await worked("ada", 10);
  expect(told()).toEqual([]);
});
