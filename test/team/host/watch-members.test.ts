import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { expect, it, onTestFinished, vi } from "vitest";
import { watchMembers } from "../../../src/team/host/watch-members.js";
import { identityOf } from "../../../src/util/process-identity.js";
import { until } from "../../helpers/until.js";
import { makeLivingTeam } from "../living-team.js";
import { hostContext } from "./host-context.js";

/** A host that watches a member whose process is `of`. */
async function watching(of: NonNullable<ReturnType<typeof identityOf>>) {
  const team = await makeLivingTeam({ agents: ["ada"] });
  const context = await hostContext(team);
  await context.roster.put({ ...team.member("ada"), state: "working", process: of });
  const stop = new AbortController();
  const watched = watchMembers(context, stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await watched;
  });
  return context;
}

function sleeper() {
  const child = spawn("sleep", ["600"], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, identity: identityOf(child.pid!)! };
}

it("a member whose process ends is settled", async () => {
  const { child, identity } = sleeper();
  const context = await watching(identity);
  child.kill("SIGKILL");
  await once(child, "exit");
  await until(() => context.roster.find("ada")?.state === "ended", "its end");
});

it("a process that is another one by now is found to be, in the end", async () => {
  const { identity } = sleeper();
  const context = await watching({ ...identity, startTime: "1" });
  await until(() => context.roster.find("ada")?.state === "ended", "its end");
});

it("one that runs costs no file at most of the looks", async () => {
  const { identity } = sleeper();
  const context = await watching(identity);
  const kill = vi.spyOn(process, "kill");
  const read = vi.spyOn(fs, "readFileSync");
  onTestFinished(() => void vi.restoreAllMocks());
  const looks = () => kill.mock.calls.filter(([pid]) => pid === identity.pid).length;
  await until(() => looks() >= 5, "looks");
  const reads = read.mock.calls.filter(([file]) => file === `/proc/${identity.pid}/stat`);
  expect(reads.length).toBeLessThan(looks());
  expect(context.roster.find("ada")?.state).toBe("working");
});
