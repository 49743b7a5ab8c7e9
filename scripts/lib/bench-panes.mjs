import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { compare, interleave, speedup, timed } from "./bench.mjs";
import { filesIn, freshDir, loadBackends, startServer, trivial } from "./bench-tmux.mjs";

const perWindow = 9;

/** From the first start until all programs in panes have begun. @type {import("./bench.mjs").Bench} */
export const panes = {
  name: "panes",
  title: "4, 16, 64, 200 trivial programs ready in panes / one chained tmux process per pane, by hand",
  runs: 3,
  async measure({ command, dir, runs }) {
    const backends = await loadBackends(command);
    const samples = {};
    const figures = [];
    for (const count of [4, 16, 64, 200]) {
      const times = await interleave(
        {
          troupe: () => withServer(dir, (server) => byTroupe(backends, server, dir, count)),
          chain: () => withServer(dir, (server) => byHand(server, dir, count)),
        },
        runs,
      );
      samples[count] = times;
      figures.push(compare(`${count} ready`, times.troupe, times.chain, 0.5, { atMost: 1.5 }));
    }
    return { samples, figures };
  },
};

/** The same 16 panes by programs that lay out sessions. @type {import("./bench.mjs").Bench} */
export const panePeers = {
  name: "pane-peers",
  title: "16 trivial programs ready in panes: how many times as fast as tmuxinator and tmuxp",
  runs: 2,
  async measure({ command, dir, runs }) {
    const backends = await loadBackends(command);
    const samples = await interleave(
      {
        troupe: () => withServer(dir, (server) => byTroupe(backends, server, dir, 16)),
        tmuxinator: () => byPeer(dir, 16, tmuxinator),
        tmuxp: () => byPeer(dir, 16, tmuxp),
      },
      runs,
    );
    return {
      samples,
      figures: ["tmuxinator", "tmuxp"].map((peer) =>
        speedup(`against ${peer}`, samples.troupe, samples[peer], { atLeast: 10 }),
      ),
    };
  },
};

async function withServer(dir, work) {
  const server = startServer(freshDir(dir));
  try {
    return await work(server);
  } finally {
    server.stop();
  }
}

async function byTroupe(backends, { socket }, dir, count) {
  const [runs, ready] = [freshDir(dir), freshDir(dir)];
  const executor = backends.createTmuxExecutor({
    place: { kind: "inside", socket, pane: "%0" },
    team: "bench",
    teamId: runs,
    env: process.env,
    deliver: async () => undefined,
    lockDir: path.join(runs, "lock"),
  });
  const spawns = [];
  const time = await timed(async () => {
    for (let n = 0; n < count; n++) spawns.push(executor.spawn(teammate(runs, ready, n)));
    await filesIn(ready, count);
  });
  const failed = (await Promise.all(spawns)).find((result) => !result.ok);
  if (failed !== undefined) throw new Error(`${failed.code}: ${failed.reason}`);
  await Promise.all(spawns.map((_, n) => executor.kill(`mate${n}@bench`)));
  await executor.close();
  return time;
}

function teammate(runs, ready, n) {
  const runDir = path.join(runs, String(n));
  fs.mkdirSync(runDir, { mode: 0o700 });
  return {
    agentId: `mate${n}@bench`,
    name: `mate${n}`,
    team: "bench",
    colour: 33,
    cwd: runs,
    env: { PATH: process.env.PATH },
    launch: { kind: "argv", argv: trivial(ready, String(n)) },
    runDir,
    placement: { layout: "tiled", leadWidth: 40, maxPanesPerWindow: perWindow },
    deadlineMs: 60_000,
  };
}

/** What somebody would type who knows tmux: a window for every nine panes, each pane with a title, tiled. */
const chain = `
i=0
while [ $i -lt $2 ]; do
  if [ $((i % ${perWindow})) = 0 ]; then make='new-window -d -t bench:'; else make="split-window -d -t bench:$window"; fi
  if [ $((i % ${perWindow})) = 0 ]; then window=$((i / ${perWindow} + 1)); make="$make$window"; fi
  tmux -S "$1" $make /bin/sh -c ': >"$0"; exec sleep 300' "$3/$i" \\; \\
    select-layout -t "bench:$window" tiled \\; set-option -p -t "bench:$window" @mate "mate$i"
  i=$((i + 1))
done`;

async function byHand({ socket }, dir, count) {
  const ready = freshDir(dir);
  return timed(async () => {
    const child = spawn("/bin/sh", ["-c", chain, "chain", socket, String(count), ready], {
      stdio: "inherit",
    });
    const [status] = await once(child, "exit");
    if (status !== 0) throw new Error(`the chain ended with ${status}`);
    await filesIn(ready, count);
  });
}

async function byPeer(dir, count, peer) {
  const [home, ready] = [freshDir(dir), freshDir(dir)];
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    LANG: "C.UTF-8",
    TMUX_TMPDIR: home,
    SHELL: "/bin/sh",
    EDITOR: "true",
  };
  const commands = Array.from({ length: count }, (_, n) => `: >'${ready}/${n}'; exec sleep 300`);
  const [program, args] = peer(home, commands);
  try {
    return await timed(async () => {
      const { status, error, stderr } = spawnSync(program, args, { env, encoding: "utf8" });
      if (error !== undefined)
        throw new Error(`${program}: ${error.message}; install it: apt-get install ${program}`);
      if (status !== 0) throw new Error(`${program}: exit ${status}: ${stderr}`);
      await filesIn(ready, count);
    });
  } finally {
    spawnSync("tmux", ["kill-server"], { env });
  }
}

function tmuxinator(home, commands) {
  const file = path.join(home, "bench.yml");
  const panes = commands.map((text) => `        - ${JSON.stringify(text)}`).join("\n");
  fs.writeFileSync(
    file,
    `name: bench\nroot: ${home}\nattach: false\nwindows:\n  - main:\n      layout: tiled\n      panes:\n${panes}\n`,
  );
  return ["tmuxinator", ["start", "--suppress-tmux-version-warning", "-p", file]];
}

function tmuxp(home, commands) {
  const file = path.join(home, "bench.json");
  const layout = { window_name: "main", layout: "tiled", panes: commands };
  fs.writeFileSync(file, JSON.stringify({ session_name: "bench", start_directory: home, windows: [layout] }));
  return ["tmuxp", ["load", "-d", "-y", file]];
}
