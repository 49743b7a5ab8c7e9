import { describe, expect, test } from "vitest";
import { writeGateTeam } from "../helpers/gate-team.js";
import { processesOf } from "../helpers/left-over.js";
import { makePlace, type Place } from "../helpers/place.js";
import { memberDoes, stateOf } from "../helpers/team-state.js";
import { until } from "../helpers/until.js";

const commandsOf = (place: Place) => processesOf(place.home).map(({ command }) => command);
const nothingRuns = (place: Place) =>
  until(
    () => commandsOf(place).length === 0,
    "nothing runs",
    () => commandsOf(place).join("\n"),
  );

/** Starts a team of two agents, one of them in a call, and a program; then kills its host. */
async function orphan(backend: string, orphanTimeout: number): Promise<Place> {
  const place = await makePlace();
  writeGateTeam(place, {
    limits: { orphanTimeout },
    teammates: [
      { name: "worker", agent: "general-purpose", prompt: "Begin.", permissionMode: "bypassPermissions" },
      { name: "idler", agent: "general-purpose" },
      { name: "program", command: "setsid sleep 4321.1 & exec sleep 4321.2" },
    ],
  });
  const up = await place.troupe(["up", "team.yaml", "-d", "--backend", backend]);
  expect(up).toMatchObject({ code: 0, stderr: "" });
  await memberDoes(place, "worker", /^Bash/);
  await until(
    () => commandsOf(place).some((command) => command.startsWith("bash -c until")),
    "the worker's call",
  );
  process.kill(stateOf(place).host.pid ?? 0, "SIGKILL");
  await until(() => stateOf(place).host.state === "gone", "the host is gone");
  return place;
}

describe.each(["in-process", "tmux"])("a team in %s whose host was killed", (backend) => {
  test("is told of by every command; mail is stored; a new start is refused until down has ended the rest", async () => {
    const place = await orphan(backend, 300);
    const status = await place.troupe(["status"]);
    expect(status).toMatchObject({ code: 0, stdout: expect.stringMatching(/gate {2}its host is gone/) });
    expect(status.stdout).toMatch(/members end by themselves after 5 minutes; `troupe down` ends them now/);
    expect(await place.troupe(["send", "worker", "still there?"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^stored for worker/),
    });
    expect(await place.troupe(["spawn", "more", "--", "true"])).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/no host runs .*\n.*troupe down/),
    });
    const refused = await place.troupe(["up", "team.yaml", "-d", "--backend", backend]);
    expect(refused).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/program.*still run.*\n.*troupe down/),
    });

    const down = await place.troupe(["down"]);
    expect(down).toMatchObject({ code: 0, stderr: expect.stringMatching(/no host runs gate/) });
    expect(down.stdout).toMatch(/sleep 4321\.1/);
    await nothingRuns(place);

    expect(await place.troupe(["up", "team.yaml", "-d", "--backend", backend])).toMatchObject({ code: 0 });
    expect((await place.troupe(["logs", "--host"])).stdout).toMatch(
      /an ended team of this name was archived/,
    );
    expect(await place.troupe(["down", "--timeout", "0s"])).toMatchObject({ code: 0 });
  });

  test("ends by itself after the orphan timeout: agents, their calls, programs and what those started", async () => {
    const place = await orphan(backend, 1);
    await nothingRuns(place);
    const { members } = await place.json(["status"]);
    for (const member of members.slice(1)) expect(member).toMatchObject({ state: "ended", reason: "lost" });
    expect(await place.troupe(["down"])).toMatchObject({ code: 0 });
  });
});

test("a team whose host is stopped is ended all the same, and that is told", async () => {
  const place = await makePlace();
  writeGateTeam(place, { teammates: [{ name: "program", command: "exec sleep 4321" }] });
  const up = await place.troupe(["up", "team.yaml", "-d", "--backend", "in-process"]);
  expect(up).toMatchObject({ code: 0, stderr: "" });
  process.kill(stateOf(place).host.pid ?? 0, "SIGSTOP");
  const down = await place.troupe(["down"]);
  expect(down).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/host of gate-.* does not answer; waking/),
  });
  expect(down.stdout).toMatch(/program ended by TERM/);
  await nothingRuns(place);
});
