import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { identityOf } from "../../src/util/process-identity.js";
import { expectNothingLeft, type Ground } from "./left-over.js";
import { temporaryDirectory } from "./temp.js";
import { tmuxProgram } from "./tmux.js";
import { until } from "./until.js";

function makeGround(): Ground {
  const scratch = temporaryDirectory();
  const [root, home, tmp] = ["place", "place/home", "place/tmp"].map((name) => path.join(scratch, name)) as [
    string,
    string,
    string,
  ];
  for (const dir of [home, tmp]) fs.mkdirSync(dir, { recursive: true });
  return { root, home, tmp, scratch, before: new Set() };
}

async function startProgram(argv: readonly string[], options: object): Promise<number> {
  const [program = "", ...args] = argv;
  const child = spawn(program, args, { stdio: "ignore", env: { PATH: process.env["PATH"] }, ...options });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child, "spawn");
  return child.pid ?? 0;
}

it("finds nothing in a place where nothing is left", async () => {
  await expectNothingLeft(makeGround());
});

it("tells of each thing that a test has left, and ends the processes", async () => {
  const ground = makeGround();
  const { root, home, tmp, scratch } = ground;
  const env = { PATH: process.env["PATH"], TROUPE_HOME: home };
  fs.writeFileSync(path.join(root, "x"), "");
  const pids = await Promise.all([
    startProgram(["sleep", "341"], { cwd: root }),
    startProgram(["sleep", "342"], { env, detached: true }),
    startProgram(["tail", "-f", path.join(root, "x")], {}),
  ]);
  const server = net.createServer((connection) => connection.destroy());
  await once(server.listen(path.join(root, "s.sock")), "listening");
  onTestFinished(() => void server.close());
  const files = [
    "teams/a-abcdef/run/0/launch.sh",
    "teams/a-abcdef/mail/b/tmp/draft",
    "keys/.user.pem.1.1.tmp",
  ];
  for (const file of files.map((name) => path.join(home, name))) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, "");
  }
  fs.writeFileSync(path.join(tmp, "spill"), "");
  fs.mkdirSync(path.join(scratch, "forgotten"));
  const socket = path.join(scratch, "forgotten/s");
  const tmux = (...args: string[]) => execFileSync(tmuxProgram, ["-S", socket, "-f", "/dev/null", ...args]);
  tmux("new-session", "-d", "exec cat");
  onTestFinished(() => void tmux("kill-server"));
  for (const [name, value] of [
    ["@troupe_owner", "owner"],
    ["@troupe_agent", "scout@team"],
  ] as const)
    tmux("set-option", "-p", name, value);
  tmux("split-window", "exec cat");
  const told = await expectNothingLeft(ground, 200).then(
    () => "",
    (error: Error) => error.message,
  );
  expect(new Set(told.split("\n"))).toEqual(
    new Set([
      "the test has left behind:",
      `process ${pids[0]}: sleep 341`,
      `process ${pids[1]}: sleep 342`,
      `process ${pids[2]}: tail -f ${root}/x`,
      `pane on ${socket}: %0 scout@team`,
      `socket: ${root}/s.sock`,
      ...files.map((name) => `unfinished file: ${home}/${name}`),
      `temporary file: ${tmp}/spill`,
      `temporary directory of the test: ${scratch}/forgotten`,
    ]),
  );
  for (const pid of pids) await until(() => identityOf(pid) === undefined, `the end of ${pid}`);
});
