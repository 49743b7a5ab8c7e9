import fs from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
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
