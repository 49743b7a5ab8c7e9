import { expect, test } from "vitest";
import { writeGateTeam } from "../helpers/gate-team.js";
import { processesOf } from "../helpers/left-over.js";
import { makePlace, type Place } from "../helpers/place.js";
import { stateOf } from "../helpers/team-state.js";
import { openTerminal } from "../helpers/terminal.js";
import { until } from "../helpers/until.js";

const programsOf = (place: Place): string =>
  processesOf(place.home)
    .map(({ command }) => command)
    .sort()
    .join("\n");

const program = {
  name: "program",
  command: "setsid sleep 4321.1 & nohup sleep 4321.2 >/dev/null 2>&1 & wait",
};
const worker = {
  name: "worker",
  agent: "general-purpose",
  prompt: "Begin.",
  permissionMode: "bypassPermissions",
};

test.each([
  ["run", "SIGINT", 130],
  ["run", "SIGTERM", 143],
  ["up", "SIGINT", 130],
  ["up", "SIGTERM", 143],
] as const)(
  "%s that gets a %s in the middle of work ends with exit code %i",
  async (command, signal, code) => {
    const place = await makePlace();
    writeGateTeam(place, { teammates: [worker, program] });
    const running = place.start([command, "team.yaml", "--backend", "in-process"]);
    await running.shows(/worker .*Bash until/);
    running.kill(signal);
    const finished = await running.finished;
    expect(finished).toMatchObject({ code, signal: null });
    expect(finished.stdout + finished.stderr).toMatch(/the team has ended: interrupted/);
    expect((await place.json(["status"])).host.state).toBe("ended");
  },
);

test("a second SIGINT ends a run at once, and with it all that ran in it", async () => {
  const place = await makePlace();
  const deaf =
    "trap '' TERM INT HUP; setsid sleep 4321.3 & nohup sleep 4321.4 >/dev/null 2>&1 & while :; do sleep 1; done";
  writeGateTeam(place, {
    teammates: [worker, { name: "deaf", command: deaf }],
  });
  const running = place.start(["run", "team.yaml", "--backend", "in-process"]);
  await running.shows(/worker .*Bash until/);
  await until(() => /4321\.3[\s\S]*4321\.4/.test(programsOf(place)), "the program's children");
  running.kill("SIGINT");
  await until(() => stateOf(place).members.some(({ state }) => state === "stopping"), "the ending");
  running.kill("SIGINT");
  expect(await running.finished).toMatchObject({ code: 130, signal: null });
  // Only the guard is left, and has nothing to do.
  await until(
    () =>
      programsOf(place)
        .split("\n")
        .every((command) => / guard /.test(command)),
    "all ended with it",
    () => programsOf(place),
    5_000,
  );
  expect(await place.troupe(["down"])).toMatchObject({ code: 0 });
});

test("a run whose members work in tmux ends with all panes", async () => {
  const place = await makePlace();
  writeGateTeam(place, { teammates: [worker, program] });
  const running = place.start(["run", "team.yaml", "--backend", "tmux"]);
  await running.shows(/worker .*Bash until/);
  running.kill("SIGINT");
  expect(await running.finished).toMatchObject({ code: 130 });
});

test("Ctrl-C in the lead's view ends a team that this terminal hosts", async () => {
  const place = await makePlace();
  writeGateTeam(place, { teammates: [worker, program] });
  const terminal = openTerminal(place, { inTmux: false });
  terminal.type("troupe up team.yaml --backend in-process");
  await terminal.pane.shows(/worker working/);
  terminal.pane.press("C-c");
  expect(await terminal.exitCode()).toBe(0);
  expect((await place.json(["status"])).host.state).toBe("ended");
});
