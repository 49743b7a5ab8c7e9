import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createInProcessExecutor } from "../../backends/in-process.js";
import { commandOf } from "../../backends/process-table.js";
import { keepProcesses, keptOf, readKept } from "../../src/team/kept.js";
import { killKeeping } from "../../src/team/kill-keeping.js";
import { memberRunDir } from "../../src/team/paths.js";
import { memberFile, writeRecord } from "../../src/team/records.js";
import { identityOf, liveness, type ProcessIdentity, selfIdentity } from "../../src/util/process-identity.js";
import { teammateConfig } from "../helpers/teammate.js";
import { temporaryDirectory } from "../helpers/temp.js";
import { until } from "../helpers/until.js";
import { type LivingTeam, makeLivingTeam } from "./living-team.js";

/** Runs a script as ada, on a terminal; `strays` are the processes whose pids it writes to `mark`, a line each. */
async function onTerminal(team: LivingTeam, script: string) {
  const { incarnation, agentId } = team.member("ada");
  const executor = createInProcessExecutor({
    run: async () => undefined,
    deliver: async () => undefined,
    graceMs: 400,
  });
  onTestFinished(async () => void (await executor.kill(agentId)));
  const config = teammateConfig(team.paths.root, "ada", [], {
    agentId,
    runDir: memberRunDir(team.paths, incarnation),
    launch: {
      kind: "argv",
      argv: ["/bin/sh", "-c", `${script} echo end >>mark; exec sleep 300`],
      terminal: true,
    },
  });
  fs.mkdirSync(config.runDir, { recursive: true });
  const spawned = await executor.spawn(config);
  if (!spawned.ok) throw new Error(spawned.reason);
  const mark = path.join(team.paths.root, "mark");
  await until(() => fs.existsSync(mark) && fs.readFileSync(mark, "utf8").includes("end"), "the start");
  const strays = fs
    .readFileSync(mark, "utf8")
    .split("\n")
    .slice(0, -2)
    .map((pid) => identityOf(Number(pid))!);
  // Until then a stray may not have left its session yet.
  await until(() => strays.every(({ pid }) => commandOf(pid) === "sleep 300"), "the programs");
  onTestFinished(() => {
    for (const stray of strays) if (liveness(stray) === "alive") process.kill(stray.pid, "SIGKILL");
  });
  await writeRecord(memberFile(team.paths, "ada"), {
    ...team.member("ada"),
    state: "working",
    ref: spawned.ref,
  });
  return { executor, agentId, strays: strays as readonly ProcessIdentity[] };
}

describe("what a person keeps", () => {
  it("is recorded by pid and start; what is no whole record is passed over, and goes with no other", async () => {
    const home = temporaryDirectory();
    const [self, ended] = [selfIdentity(), { ...selfIdentity(), startTime: "Mon Nov 30 19:00:00 2026" }];
    const write = (name: string, value: unknown) => {
      fs.mkdirSync(path.join(home, "kept"), { recursive: true });
      fs.writeFileSync(path.join(home, "kept", name), JSON.stringify(value));
    };
    const partly = Object.keys(self).map((key) => ({ v: 1, ...self, [key]: undefined }));
    const broken = [null, 7, "x", { ...self }, { v: 2, ...self }, { v: 1, ...self, pid: "1" }, ...partly];
    for (const [index, value] of broken.entries()) write(`${self.pid}-x${index}.json`, value);
    write(`${self.pid}.json`, { v: 1, ...self });
    expect(readKept(home)).toEqual([]);
    write(`${self.pid}-${self.startTime}.json`, { v: 1, ...self });
    write(`${self.pid}-Mon-Nov-30-19-00-00-2026.json`, { v: 1, ...ended });
    expect(readKept(home)).toEqual([self]);
    expect(fs.existsSync(path.join(home, "kept", `${self.pid}-Mon-Nov-30-19-00-00-2026.json`))).toBe(false);
    expect(readKept(home)).toEqual([self]);
  });

  it("is refused, before anything ends, where it would end with its terminal, and nothing else is", async () => {
    const team = await makeLivingTeam();
    const starters = ["", "nohup ", "setsid ", "set -m; "];
    const script = starters
      .map((starter) => `${starter}sleep 300 >/dev/null 2>&1 & echo $! >>mark;`)
      .join(" ");
    const { executor, agentId, strays } = await onTerminal(team, script);
    const [exposed, ...safe] = strays;
    const keep = (some: readonly (ProcessIdentity | undefined)[]) =>
      keepProcesses(
        team.paths,
        [team.member("ada")],
        some.map((one) => one?.pid ?? 0),
      );
    await expect(keep([...safe, exposed])).rejects.toMatchObject({
      code: "ends-with-terminal",
      kind: "usage",
      message: expect.stringMatching(/^process \d+ \(sleep 300\) cannot be kept: .* its terminal/),
      remedy: expect.stringContaining("setsid or nohup"),
    });
    expect(readKept(team.paths.home)).toEqual([]);
    expect(strays.map(liveness)).toEqual(["alive", "alive", "alive", "alive"]);
    await expect(keep([selfIdentity()])).rejects.toMatchObject({
      code: "not-in-team",
      remedy: expect.not.stringMatching(new RegExp(`\\b${exposed?.pid}\\b`)),
    });

    await keep(safe);
    const names = safe.map(({ pid, startTime }) => `${pid}-${startTime}.json`);
    expect(fs.readdirSync(path.join(team.paths.home, "kept")).sort()).toEqual(names.sort());
    const report = await killKeeping(executor, agentId, keptOf(team.paths, team.member("ada")));
    expect(strays.map(liveness)).toEqual(["gone", "alive", "alive", "alive"]);
    expect(report.kept?.map(({ pid }) => pid).sort()).toEqual(safe.map(({ pid }) => pid).sort());
    expect(report.lost).toBeUndefined();
    // As with `down --keep` after `stop --keep`: it is nobody's by now, and kept.
    await keep(safe);
    expect(fs.readdirSync(path.join(team.paths.home, "kept")).sort()).toEqual(names.sort());
  });
});
