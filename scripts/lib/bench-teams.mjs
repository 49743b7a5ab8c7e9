import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { compare, interleave, timed } from "./bench.mjs";
import { freshDir } from "./bench-tmux.mjs";

/** Eight embedded agents in panes, from `up` until each has said that it is there. @type {import("./bench.mjs").Bench} */
export const agentPanes = {
  name: "agent-panes",
  title: "8 embedded teammates ready in panes / 8 bare node processes; memory of each agent's own process",
  runs: 5,
  async measure({ command, dir, runs }) {
    const memory = [];
    const samples = await interleave(
      {
        troupe: () =>
          withTeam(command, dir, agents(8), async (team) => {
            const time = await timed(() => team.up("tmux"));
            for (const { process } of team.members()) memory.push(largestBelow(process.pid));
            return time;
          }),
        node: () => timed(() => Promise.all(Array.from({ length: 8 }, bareNode))),
      },
      runs,
    );
    const worst = Math.max(...memory) / 1000;
    return {
      samples: { ...samples, memory },
      figures: [
        compare("8 ready", samples.troupe, samples.node, 0.5, { atMost: 3 }),
        {
          label: "memory of one agent's own process (PSS), MB",
          value: worst,
          text: `of ${memory.length}`,
          atMost: 40,
        },
      ],
    };
  },
};

/** What a team costs that has nothing to do. @type {import("./bench.mjs").Bench} */
export const idleTeam = {
  name: "idle-team",
  title: "64 idle programs in panes: processor of troupe and the tmux server, processes that they start",
  runs: 60,
  async measure({ command, dir, runs: seconds }) {
    return withTeam(command, dir, programs(64), async (team) => {
      await team.up("tmux");
      await delay(5_000);
      const pids = processesOf(team.home);
      const before = ticksOf(pids);
      await delay(seconds * 1000);
      const ticks = ticksOf(pids) - before;
      // Afterwards, since who is traced needs more of the processor.
      const started = await startedBy(pids, seconds, team.home);
      const minutes = seconds / 60;
      return {
        samples: { ticks: [ticks], started: [started] },
        figures: [
          {
            label: "share of a core, %",
            value: ticks / seconds,
            text: `${pids.length} processes`,
            atMost: 1,
          },
          { label: "processes a minute", value: started / minutes, text: `in ${seconds} s`, atMost: 5 },
        ],
      };
    });
  },
};

/**
 * Embedded agents that wait for mail in one process. What their start left to be collected does not count: V8 collects it when
 * the process works again.
 * @type {import("./bench.mjs").Bench}
 */
export const idleAgents = {
  name: "idle-agents",
  title: "1,000 idle in-process teammates: memory of each",
  runs: 1,
  async measure({ command, dir }) {
    const [few, many] = [10, 1000];
    const memory = async (count) =>
      withTeam(command, dir, agents(count), async (team) => {
        await team.up("in-process", { NODE_OPTIONS: `--require ${collector(team.home)}` });
        return settledKilobytes(team.host().process.pid);
      });
    const [small, large] = [await memory(few), await memory(many)];
    const each = (large - small) / (many - few);
    return {
      samples: { few: [small], many: [large] },
      figures: [{ label: "kB of each", value: each, text: `${small} kB / ${large} kB`, atMost: 100 }],
    };
  },
};

/** From the command until it has verified that nothing is left. @type {import("./bench.mjs").Bench} */
export const downTime = {
  name: "down",
  title: "`troupe down` of 16 programs that end when told to",
  runs: 3,
  async measure({ command, dir, runs }) {
    const seconds = [];
    for (let run = 0; run < runs; run++)
      await withTeam(command, dir, programs(16), async (team) => {
        await team.up("tmux");
        seconds.push((await timed(() => team.troupe("down"))) / 1000);
      });
    const worst = Math.max(...seconds);
    return {
      samples: { seconds },
      figures: [{ label: "seconds", value: worst, text: `of ${runs}`, atMost: 1.5 }],
    };
  },
};

const programs = (count) =>
  Array.from({ length: count }, (_, n) => ({ name: `mate${n}`, command: "exec sleep 600" }));
const agents = (count) => Array.from({ length: count }, (_, n) => ({ name: `mate${n}`, agent: "Explore" }));

/** A team in a home and a tmux directory of its own; ended and removed afterwards, whatever `work` does. */
async function withTeam(command, base, teammates, work) {
  const home = freshDir(base);
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    TROUPE_HOME: path.join(home, "t"),
    TMUX_TMPDIR: home,
    LANG: "C.UTF-8",
  };
  const file = path.join(home, "team.yaml");
  const team = { name: "bench", model: "offline", limits: { teammates: teammates.length }, teammates };
  fs.writeFileSync(file, JSON.stringify(team));
  const run = (args, more = {}) => {
    const { status, stderr } = spawnSync(process.execPath, [command, ...args], {
      cwd: home,
      env: { ...env, ...more },
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`troupe ${args[0]}: exit ${status}: ${stderr}`);
  };
  const read = (place) => JSON.parse(fs.readFileSync(place, "utf8"));
  const root = () => {
    const teams = path.join(home, "t/teams");
    return path.join(teams, fs.readdirSync(teams).find((name) => name.startsWith("bench-")) ?? "");
  };
  try {
    return await work({
      home,
      troupe: (...args) => run(args),
      up: (backend, more) => run(["up", file, "-d", "--backend", backend], more),
      host: () => read(path.join(root(), "run/host.json")),
      members: () => teammates.map(({ name }) => read(path.join(root(), "members", `${name}.json`))),
    });
  } finally {
    spawnSync(process.execPath, [command, "down", "--timeout", "0s"], { cwd: home, env });
    fs.rmSync(home, { recursive: true, force: true });
  }
}

async function bareNode() {
  const [status] = await once(spawn(process.execPath, ["-e", "0"], { stdio: "ignore" }), "exit");
  if (status !== 0) throw new Error(`node ended with ${status}`);
}

/** The host, its guard and the tmux server: every process that has `home` in its arguments and no teammate's. */
function processesOf(home) {
  return fs
    .readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      const words = readIfThere(`/proc/${pid}/cmdline`);
      const environment = readIfThere(`/proc/${pid}/environ`);
      return `${words}\0${environment}`.includes(home) && !/^sleep\0|launch\.sh/.test(words);
    });
}

/** Processor time so far, in hundredths of a second. */
function ticksOf(pids) {
  return pids.reduce((sum, pid) => {
    const fields = readIfThere(`/proc/${pid}/stat`).split(") ")[1]?.split(" ") ?? [];
    return sum + Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  }, 0);
}

/** How many processes the given ones start within some seconds; their threads do not count. */
async function startedBy(pids, seconds, dir) {
  const log = path.join(dir, "started");
  const trace = ["-f", "-q", "-e", "trace=clone,clone3,fork,vfork", "-e", "signal=none", "-o", log];
  const strace = spawn("strace", [...trace, ...pids.flatMap((pid) => ["-p", pid])], { stdio: "ignore" });
  const ended = once(strace, "exit");
  await delay(seconds * 1000);
  strace.kill("SIGINT");
  await ended;
  const calls = fs.readFileSync(log, "utf8").split("\n");
  return calls.filter((line) => /= \d+$/.test(line) && !line.includes("CLONE_THREAD")).length;
}

/** The memory of a process with a {@link collector}, once it gets no less. */
async function settledKilobytes(pid) {
  process.kill(pid, "SIGUSR2");
  let [before, now] = [Number.POSITIVE_INFINITY, proportionalKilobytes(pid)];
  for (let looks = 0; looks < 12 && now < before * 0.99; looks++) {
    await delay(5_000);
    [before, now] = [now, proportionalKilobytes(pid)];
  }
  return now;
}

/** A file in `dir` by which a process that requires it collects its garbage when it gets SIGUSR2. */
function collector(dir) {
  const file = path.join(dir, "collector.cjs");
  fs.writeFileSync(file, collects);
  return file;
}

const collects = `
const { Session } = require("node:inspector");
process.on("SIGUSR2", () => {
  const session = new Session();
  session.connect();
  session.post("HeapProfiler.collectGarbage", () => session.disconnect());
});`;

function proportionalKilobytes(pid) {
  return Number(/^Pss:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1]);
}

/** The memory of the largest process of a tree: what runs a teammate, without its launch shells and the log of its pane. */
function largestBelow(pid) {
  const children = readIfThere(`/proc/${pid}/task/${pid}/children`).trim();
  const below = children === "" ? [] : children.split(" ").map(largestBelow);
  return Math.max(proportionalKilobytes(pid), ...below);
}

function readIfThere(file) {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
