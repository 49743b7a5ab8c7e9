import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createTmuxExecutor } from "../../../backends/tmux/executor.js";
import { endRemains, findRemains, type RemainsOptions } from "../../../backends/tmux/remains.js";
import { liveness } from "../../../src/util/process-identity.js";
import { teammateConfig } from "../../helpers/teammate.js";
import { temporaryDirectory } from "../../helpers/temp.js";
import { startTmux, tmuxProgram } from "../../helpers/tmux.js";

/** A teammate of `teamId` in a pane, whose program has ended; nobody knows of it any more. */
async function leavePane(options: RemainsOptions, dir: string, pane: string): Promise<string> {
  const { team, teamId, env, lockDir, socket } = options;
  const executor = createTmuxExecutor({
    place: { kind: "inside", socket, pane },
    team,
    teamId,
    env,
    deliver: async () => undefined,
    lockDir,
    tmux: tmuxProgram,
  });
  const result = await executor.spawn(teammateConfig(dir, "scout", ["true"]));
  return (result.ok ? result.ref.pane : undefined) ?? "none";
}

it("finds and closes a team's panes on a user's server, and gives back what they were opened beside", async () => {
  const tmux = startTmux();
  onTestFinished(tmux.stop);
  const dir = temporaryDirectory();
  const optionsOf = (teamId: string): RemainsOptions => ({
    program: tmuxProgram,
    env: process.env,
    socket: tmux.socket,
    team: "team",
    teamId,
    lockDir: path.join(dir, "lock"),
  });
  const look = () => tmux.run("list-panes", "-a", "-F", "#{pane_id} #{window_name} #{pane_dead}");
  const options = () => tmux.run("show-options", "-w", "-t", "%0");
  const [one, other] = [optionsOf("one"), optionsOf("other")];
  const before = { panes: look(), options: options() };
  expect(await findRemains(one)).toMatchObject({ panes: [], serverIsLeft: false });
  const pane = await leavePane(one, dir, "%0");
  const others = await leavePane(other, dir, "%0");
  expect(await findRemains(one)).toMatchObject({ panes: [pane], serverIsLeft: false });
  await endRemains(one);
  expect(await findRemains(one)).toMatchObject({ panes: [] });
  expect(look()).toContain(`${others} `);
  await endRemains(other);
  expect({ panes: look(), options: options() }).toEqual(before);
});

describe("a server of the team's own", () => {
  const setUp = async () => {
    const dir = temporaryDirectory();
    const [ownRunDir, lockDir] = [path.join(dir, "t"), path.join(dir, "lock")];
    const common = { team: "team", teamId: "one", env: process.env, lockDir };
    const executor = createTmuxExecutor({
      ...common,
      place: { kind: "own", runDir: ownRunDir, userConfig: false, leadArgv: ["sleep", "300"] },
      deliver: async () => undefined,
      tmux: tmuxProgram,
    });
    await executor.open();
    await executor.spawn(teammateConfig(dir, "scout", ["true"]));
    const socket = path.join(ownRunDir, "tmux.sock");
    const options: RemainsOptions = { ...common, program: tmuxProgram, socket, ownRunDir };
    const tmux = (...args: string[]) =>
      execFileSync(tmuxProgram, ["-S", socket, ...args], { encoding: "utf8" }).trim();
    return { options, tmux };
  };

  it("is ended whole where only our panes are left", async () => {
    const { options } = await setUp();
    const found = await findRemains(options);
    expect(found).toMatchObject({ panes: [/^%/, /^%/].map((id) => expect.stringMatching(id)) });
    expect(found).toMatchObject({ serverIsLeft: true, others: [] });
    await endRemains(options);
    expect(await findRemains(options)).toBeUndefined();
    expect(found && liveness(found.server)).toBe("gone");
    expect(fs.existsSync(options.socket)).toBe(false);
  });

  it("is the person's who opened a pane there: ours are closed, the lead's view too, and theirs stays", async () => {
    const { options, tmux } = await setUp();
    const theirs = tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "exec cat");
    onTestFinished(() => void tmux("kill-server"));
    expect(await findRemains(options)).toMatchObject({ serverIsLeft: false, others: [theirs] });
    for (let time = 0; time < 2; time++) {
      await endRemains(options);
      expect(await findRemains(options)).toMatchObject({ panes: [], serverIsLeft: false, others: [theirs] });
    }
    expect(tmux("list-panes", "-a", "-F", "#{pane_id} #{pane_dead}")).toBe(`${theirs} 0`);
  });
});

it("never asks a user's server for its socket, and finds nothing where none answers", async () => {
  const tmux = startTmux();
  const dir = temporaryDirectory();
  const options = {
    program: tmuxProgram,
    env: process.env,
    socket: tmux.socket,
    team: "team",
    teamId: "one",
    lockDir: path.join(dir, "lock"),
  };
  const server = (await findRemains(options))?.server;
  const hidden = `${tmux.socket}.hidden`;
  fs.renameSync(tmux.socket, hidden);
  await endRemains({ ...options, ...(server === undefined ? {} : { server }) });
  expect(await findRemains(options)).toBeUndefined();
  expect(fs.existsSync(tmux.socket)).toBe(false);
  expect(server && liveness(server)).toBe("alive");
  fs.renameSync(hidden, tmux.socket);
  tmux.stop();
});
