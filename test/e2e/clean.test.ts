import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { locateTeam } from "../../src/team/locate.js";
import { readMembers } from "../../src/team/records.js";
import { liveness } from "../../src/util/process-identity.js";
import { processesOf } from "../helpers/left-over.js";
import { makePlace, type Place } from "../helpers/place.js";
import { stateOf } from "../helpers/team-state.js";
import { tmuxProgram } from "../helpers/tmux.js";
import { until } from "../helpers/until.js";

const commandsOf = (place: Place) => processesOf(place.home).map(({ command }) => command);

/** Starts a team of two programs, one of which puts something out of sight, that outlives its host for minutes. */
async function start(place: Place, backend: string, name = "lost"): Promise<void> {
  place.write(`${name}.yaml`, {
    name,
    teammates: [
      { name: "one", command: `setsid sleep 4321.1 & exec sleep 4321.2` },
      { name: "two", command: "trap '' HUP; while :; do sleep 4321.3; done" },
    ],
  });
  const up = await place.troupe(["up", `${name}.yaml`, "-d", "--backend", backend]);
  expect(up).toMatchObject({ code: 0, stderr: "" });
  await until(
    () => commandsOf(place).filter((command) => /^sleep 4321/.test(command)).length >= 3,
    "programs",
  );
}

async function killHost(place: Place): Promise<void> {
  process.kill(stateOf(place).host.pid ?? 0, "SIGKILL");
  await until(() => stateOf(place).host.state === "gone", "the host is gone");
}

/** Cleans, and proves that everything is gone, nothing of anybody else is, and that a second time finds nothing. */
async function cleanAll(place: Place) {
  const bystander = spawn("sleep", ["4321.2"], { cwd: place.project, env: { PATH: place.env["PATH"] } });
  onTestFinished(() => void bystander.kill("SIGKILL"));
  const report = await place.json(["clean"]);
  expect(report.items.filter((item: { outcome: string }) => item.outcome !== "ended")).toEqual([]);
  await until(
    () => commandsOf(place).length === 0,
    "nothing runs",
    () => commandsOf(place).join("\n"),
  );
  expect(await place.troupe(["clean"])).toMatchObject({ code: 0, stdout: "nothing to do\n", stderr: "" });
  expect(bystander).toMatchObject({ exitCode: null, signalCode: null });
  bystander.kill("SIGKILL");
  await once(bystander, "exit");
  return report.items as { kind: string; what: string }[];
}

const kindsIn = (items: { kind: string }[]) => [...new Set(items.map(({ kind }) => kind))].sort();

describe.each(["in-process", "tmux"])("clean in %s", (backend) => {
  test("ends what a killed host left, once, and tells it first if it is asked to; a running team is spared", async () => {
    const place = await makePlace();
    await start(place, backend);
    expect(await place.troupe(["clean"])).toMatchObject({ code: 0, stdout: "nothing to do\n" });
    await killHost(place);
    const dry = await place.troupe(["clean", "--dry-run"]);
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringMatching(/^TEAM +WHAT +NOW +WHICH\n/) });
    for (const word of ["4321.1", "4321.2", "4321.3", "died"])
      expect(dry.stdout).toMatch(new RegExp(`^lost-\\w+ +\\w+ +found +.*${word.replace(".", "\\.")}`, "m"));
    expect(commandsOf(place).join("\n")).toMatch(/4321\.1/);

    const items = await cleanAll(place);
    expect(kindsIn(items)).toEqual(
      backend === "tmux"
        ? ["lock", "pane", "process", "record", "server", "socket"]
        : ["process", "record", "socket"],
    );
    expect(stateOf(place).members.slice(1)).toMatchObject([{ state: "ended" }, { state: "ended" }]);
  });

  test("after everything was killed, closes the records and takes the sockets away", async () => {
    const place = await makePlace();
    await start(place, backend);
    const team = locateTeam({ home: place.home, cwd: place.project, env: {} });
    const servers = readMembers(team.paths).flatMap(({ ref }) => ref?.server?.process ?? []);
    for (let left = processesOf(place.home); left.length > 0; left = processesOf(place.home))
      for (const { identity } of left)
        if (liveness(identity) === "alive") process.kill(identity.pid, "SIGKILL");
    await until(() => servers.every((server) => liveness(server) === "gone"), "no server");
    const lock = backend === "tmux" ? ["lock"] : [];
    expect(kindsIn(await cleanAll(place))).toEqual([...lock, "record", "socket"]);
  });
});

describe("clean in tmux", () => {
  test("finds the team's own server though its socket was removed, or ends what a killed server left", async () => {
    const place = await makePlace();
    for (const harm of ["socket", "server"]) {
      await start(place, "tmux", harm);
      const team = locateTeam({ home: place.home, cwd: place.project, env: {}, team: harm });
      const server = readMembers(team.paths).find(({ ref }) => ref?.server !== undefined)?.ref?.server;
      if (server === undefined) throw new Error("no server is known");
      process.kill(stateOf(place, harm).host.pid ?? 0, "SIGKILL");
      if (harm === "socket") fs.rmSync(server.socket);
      else process.kill(server.process.pid, "SIGKILL");
      await until(() => stateOf(place, harm).host.state === "gone", "the host is gone");
      const items = await cleanAll(place);
      expect(kindsIn(items)).toEqual(expect.arrayContaining(["process", "record", "socket"]));
      expect(kindsIn(items).includes("server")).toBe(harm === "socket");
      await until(() => liveness(server.process) === "gone", "the server is gone");
    }
  });

  test("leaves a pane that a person opened on the team's server", async () => {
    const place = await makePlace();
    await start(place, "tmux");
    const team = locateTeam({ home: place.home, cwd: place.project, env: {} });
    const tmux = (...args: string[]) =>
      execFileSync(tmuxProgram, ["-S", path.join(team.paths.sockets, "tmux.sock"), ...args], {
        encoding: "utf8",
      });
    tmux("new-window", "-d", "-n", "mine", "env", "-u", "TROUPE_HOME", "cat");
    await killHost(place);
    const first = await place.troupe(["clean"]);
    const kept = /^lost-\w+ +server +kept +tmux \d+ on .*tmux\.sock, with panes of yours: %\d+\n/m;
    expect(first).toMatchObject({ code: 0, stdout: expect.stringMatching(kept), stderr: "" });
    expect(first.stdout).toMatch(/ pane +gone /);
    expect(first.stdout).not.toMatch(/still there/);
    expect(tmux("list-windows", "-F", "#{window_name}")).toBe("mine\n");
    expect(tmux("list-panes", "-a", "-F", "#{@troupe_tag}")).toBe("\n");
    for (const args of [["clean"], ["clean", "--dry-run"]]) {
      const again = await place.troupe(args);
      expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(kept) });
      expect(again.stdout.split("\n")).toHaveLength(3);
    }
    tmux("kill-server");
    await place.troupe(["clean"]);
    expect(await place.troupe(["clean"])).toMatchObject({ code: 0, stdout: "nothing to do\n" });
  });
});

test("a program of a team is refused", async () => {
  const place = await makePlace();
  place.write("team.yaml", {
    name: "demo",
    teammates: [{ name: "eager", command: '(troupe clean; echo "code $?") >tried 2>&1; exec sleep 4321' }],
  });
  expect(await place.troupe(["up", "team.yaml", "-d", "--backend", "in-process"])).toMatchObject({ code: 0 });
  const tried = path.join(place.project, "tried");
  await until(() => fs.existsSync(tried) && /code/.test(fs.readFileSync(tried, "utf8")), "its try");
  expect(fs.readFileSync(tried, "utf8")).toMatch(
    /clean was called by eager: only a person may.*\n.*\ncode 1/,
  );
  expect(await place.troupe(["down"])).toMatchObject({ code: 0 });
});
