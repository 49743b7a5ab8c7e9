import { expect, onTestFinished, test } from "vitest";
import type { TmuxRun } from "../helpers/panes.js";
import { makePlace } from "../helpers/place.js";
import { openTerminal } from "../helpers/terminal.js";
import { until } from "../helpers/until.js";

const untilGate = "until [ -e gate ]; do sleep 0.1; done";
const team = {
  name: "pair",
  teammates: [
    { name: "worker", command: `${untilGate}; exit 3` },
    { name: "watcher", command: "sleep 300", service: true },
  ],
};

test("the border of a pane tells what its teammate does, and how it ended", async () => {
  const place = await makePlace();
  place.write("team.yaml", team);
  const terminal = openTerminal(place, { inTmux: true });
  terminal.type("troupe up team.yaml -d");
  expect(await terminal.exitCode()).toBe(0);
  const borders = (): string => terminal.run("list-panes", "-a", "-F", "#{E:pane-border-format}");
  await until(() => /worker \(working\)/.test(borders()), "working", borders);
  await until(() => /watcher \(working\)/.test(borders()), "working", borders);
  place.write("gate", "");
  await until(() => /worker \(ended: exit code 3\)/.test(borders()), "ended", borders);
  expect((await place.troupe(["down"])).code).toBe(0);
  expect(borders()).not.toMatch(/worker|watcher/);
});

test("a tmux server that does not answer holds up the end of a team only for a while", async () => {
  const place = await makePlace();
  place.write("team.yaml", team);
  const terminal = openTerminal(place, { inTmux: true });
  terminal.type("troupe up team.yaml -d");
  expect(await terminal.exitCode()).toBe(0);
  const server = Number(terminal.run("display-message", "-p", "#{pid}"));
  process.kill(server, "SIGSTOP");
  onTestFinished(() => void process.kill(server, "SIGCONT"));
  const { code, stdout } = await place.troupe(["down"]);
  expect([code, stdout]).toEqual([0, expect.not.stringContaining("still running")]);
  const { members } = await place.json(["status"]);
  expect(members.map(({ state }: { state: string }) => state)).toEqual(["idle", "ended", "ended"]);
  process.kill(server, "SIGCONT");
  // What was asked of the server meanwhile may be done late; else it is for clean to close the panes.
  expect((await place.troupe(["clean"])).code).toBe(0);
  await until(() => panesOfTeam(terminal.run).length === 0, "no pane is left");
});

const panesOfTeam = (run: TmuxRun): string[] =>
  run("list-panes", "-a", "-F", "#{pane_id} #{@troupe_agent}")
    .split("\n")
    .filter((row) => row.includes("@pair"));
