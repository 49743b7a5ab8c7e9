import { spawn } from "node:child_process";
import { expect, it, onTestFinished } from "vitest";
import { runIdOf, runIdVariable } from "../../../backends/environment.js";
import { endMember } from "../../../src/team/host/end-member.js";
import { keepProcesses } from "../../../src/team/kept.js";
import { memberRunDir } from "../../../src/team/paths.js";
import { memberFile, writeRecord } from "../../../src/team/records.js";
import { identityOf, liveness } from "../../../src/util/process-identity.js";
import { until } from "../../helpers/until.js";
import { makeLivingTeam } from "../living-team.js";
import { hostContext } from "./host-context.js";

it("what a member takes along as it ends by itself, though a person keeps it, is told as lost", async () => {
  const team = await makeLivingTeam();
  await writeRecord(memberFile(team.paths, "ada"), { ...team.member("ada"), state: "working" });
  const ada = team.member("ada");
  const stray = spawn("sleep", ["300"], {
    stdio: "ignore",
    env: { PATH: process.env["PATH"], [runIdVariable]: runIdOf(memberRunDir(team.paths, ada.incarnation)) },
  });
  onTestFinished(() => void stray.kill("SIGKILL"));
  const identity = await until(() => identityOf(stray.pid ?? 0), "the process");
  const context = await hostContext(team);
  const executor = context.executorFor(ada);
  const host = {
    ...context,
    executorFor: () => ({ ...executor, killExcept: () => executor.kill(ada.agentId) }),
  };
  await keepProcesses(team.paths, [ada], [identity.pid]);
  const ending = endMember(host, ada, { timeoutMs: 20_000 });
  await until(() => team.mailOf("ada").length === 1, "the request");
  stray.kill("SIGKILL");
  await until(() => liveness(identity) === "gone", "its end");
  const since = new Date().toISOString();
  context.roster.setState("ada", ada.incarnation, { state: "ended", reason: "completed", since });
  expect(await ending).toMatchObject({
    how: "asked",
    report: { survivors: [], lost: [{ pid: identity.pid, command: "sleep 300" }] },
  });
});
