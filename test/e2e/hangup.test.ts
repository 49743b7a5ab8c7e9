import { expect, test } from "vitest";
import { writeGateTeam } from "../helpers/gate-team.js";
import { paneTitled } from "../helpers/panes.js";
import { makePlace } from "../helpers/place.js";
import { memberIn, stateOf } from "../helpers/team-state.js";
import { openTerminal } from "../helpers/terminal.js";

test("a run whose terminal hangs up takes everything along", async () => {
  const place = await makePlace();
  writeGateTeam(place, {
    teammates: [
      { name: "worker", agent: "general-purpose", prompt: "Begin.", permissionMode: "bypassPermissions" },
      { name: "program", command: "setsid sleep 4321.1 & exec nohup sleep 4321.2 >/dev/null 2>&1" },
    ],
  });
  const running = place.start(["run", "team.yaml"]);
  await running.shows(/worker .*Bash until/);
  running.kill("SIGHUP");
  expect(await running.finished).toMatchObject({ code: 129 });
  expect(stateOf(place).host.state).toBe("ended");
});

test("a team in panes goes on when the pane that it was started from is closed", async () => {
  const place = await makePlace();
  const gate = writeGateTeam(place);
  const terminal = openTerminal(place, { inTmux: true });
  terminal.type("troupe up team.yaml");
  await (await paneTitled(terminal.run, "worker")).shows(/I wait at the gate/);
  terminal.run("kill-pane", "-t", terminal.pane.id);
  gate.open();
  await memberIn(place, "worker", "idle");
  expect((await place.troupe(["inbox"])).stdout).toMatch(/from worker[\s\S]*Passed the gate\./);
  expect(await place.troupe(["down"])).toMatchObject({ code: 0 });
});
