import { expect, test } from "vitest";
import { locateTeam } from "../../src/team/locate.js";
import { readMembers } from "../../src/team/records.js";
import { liveness, type ProcessIdentity } from "../../src/util/process-identity.js";
import { processesOf } from "../helpers/left-over.js";
import { makePlace, type Place } from "../helpers/place.js";
import { stateOf } from "../helpers/team-state.js";
import { until } from "../helpers/until.js";

const programsOf = (place: Place) =>
  processesOf(place.home).filter(({ command }) => /sleep 4321/.test(command));

/** Starts a team of two programs in panes of its own server, and stops that. */
async function startAndStop(place: Place, name: string): Promise<ProcessIdentity> {
  const before = programsOf(place).length;
  place.write(`${name}.yaml`, {
    name,
    teammates: [
      { name: "one", command: "setsid sleep 4321.1 & exec sleep 4321.2" },
      { name: "two", command: "trap '' HUP; while :; do sleep 4321.3; done" },
    ],
  });
  expect(await place.troupe(["up", `${name}.yaml`, "-d", "--backend", "tmux"])).toMatchObject({ code: 0 });
  await until(() => programsOf(place).length >= before + 3, "programs");
  const team = locateTeam({ home: place.home, cwd: place.project, env: {}, team: name });
  const server = readMembers(team.paths).find(({ ref }) => ref?.server !== undefined)?.ref?.server?.process;
  if (server === undefined) throw new Error("no server is known");
  process.kill(server.pid, "SIGSTOP");
  return server;
}

test("down ends the programs on a tmux server that is stopped, with a host and without; panes are told, and ended later", async () => {
  const place = await makePlace();
  const servers = [await startAndStop(place, "led"), await startAndStop(place, "lost")];
  process.kill(stateOf(place, "lost").host.pid ?? 0, "SIGKILL");
  const [led, lost] = await Promise.all(
    ["led", "lost"].map((team) => place.troupe(["down", "--team", team])),
  );

  expect(led).toMatchObject({ code: 0, stdout: expect.stringMatching(/one ended by TERM[\s\S]*two ended/) });
  expect(led?.stderr).toMatch(
    /one@led has ended, but its pane %\d+ may be open still: tmux .*did not answer/,
  );
  expect(led?.stderr).toMatch(/what that left is ended once it is mended: troupe down --team led-/);
  expect(lost).toMatchObject({ code: 1, stdout: "" });
  expect(lost?.stderr).toMatch(/lost has been ended, but panes of it may be open still: .*did not answer/);
  expect(lost?.stderr).toMatch(/kill -CONT PID.*then once more: troupe down --team lost-/);
  expect(programsOf(place)).toEqual([]);
  for (const team of ["led", "lost"])
    expect(stateOf(place, team).members.slice(1)).toMatchObject([{ state: "ended" }, { state: "ended" }]);
  expect(servers.map(liveness)).toEqual(["alive", "alive"]);

  for (const { pid } of servers) process.kill(pid, "SIGCONT");
  expect(await place.troupe(["down", "--team", "led"])).toMatchObject({ code: 0 });
  expect(await place.troupe(["clean"])).toMatchObject({ code: 0 });
  await until(() => servers.every((server) => liveness(server) === "gone"), "the servers are gone");
  expect(await place.troupe(["clean"])).toMatchObject({ code: 0, stdout: "nothing to do\n" });
});
