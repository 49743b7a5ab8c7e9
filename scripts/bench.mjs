// Measures what the product promises, each time against a floor that does the least possible, in turns in one run.
//
//   npm run bench -- NAME [--rounds 5] [--runs N]
//
// NAME is `mailbox`, `spawn`, or one bench of theirs. Of several rounds the worst counts. Raw samples are kept in
// .bench/. Exit code 1 where a limit is passed.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { verdictOn, worse } from "./lib/bench.mjs";
import { broadcast } from "./lib/bench-broadcast.mjs";
import { durableSends } from "./lib/bench-durable.mjs";
import { fullMailbox } from "./lib/bench-full.mjs";
import { idleMailboxes } from "./lib/bench-idle.mjs";
import { inboxLatency, readerLatency } from "./lib/bench-latency.mjs";
import { panePeers, panes } from "./lib/bench-panes.mjs";
import { sendCost } from "./lib/bench-send.mjs";
import { agentPanes, downTime, idleAgents, idleTeam } from "./lib/bench-teams.mjs";
import { ensureBuilt } from "./lib/ensure-built.mjs";

/** @type {Record<string, readonly import("./lib/bench.mjs").Bench[]>} */
const groups = {
  mailbox: [sendCost, readerLatency, inboxLatency, durableSends, fullMailbox, broadcast, idleMailboxes],
  spawn: [panes, panePeers, agentPanes, idleTeam, idleAgents, downTime],
};

const { values, positionals } = parseArgs({
  options: { rounds: { type: "string", default: "5" }, runs: { type: "string" } },
  allowPositionals: true,
});
const [wanted = ""] = positionals;
const all = Object.values(groups).flat();
const benches = groups[wanted] ?? all.filter(({ name }) => name === wanted);
if (benches.length === 0) {
  const names = [...Object.keys(groups), ...all.map(({ name }) => name)];
  console.error(`bench: say which: ${names.join(", ")}`);
  process.exit(2);
}

const command = ensureBuilt();
const raw = path.resolve(import.meta.dirname, "../.bench");
fs.mkdirSync(raw, { recursive: true });
for (const bench of benches) {
  const conditions = {
    node: process.version,
    cores: `${os.availableParallelism()} of ${os.cpus()[0]?.model ?? "unknown"}`,
    load: os.loadavg()[0]?.toFixed(1),
  };
  console.log(`\n${bench.name}: ${bench.title}\n  ${Object.entries(conditions).flat().join(" ")}`);
  const scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "troupe-bench-")));
  try {
    const rounds = [];
    /** @type {Map<string, import("./lib/bench.mjs").Figure>} */
    const worst = new Map();
    for (let round = 1; round <= Number(bench.rounds ?? values.rounds); round++) {
      const dir = path.join(scratch, String(round));
      fs.mkdirSync(dir);
      const runs = Number(values.runs ?? bench.runs);
      const { samples, figures } = await bench.measure({ command, dir, runs });
      fs.rmSync(dir, { recursive: true });
      rounds.push({ figures, samples });
      for (const figure of figures) {
        const { label, value, text } = figure;
        console.log(`  round ${round}  ${label.padEnd(32)} ${value.toFixed(2).padStart(7)}  (${text})`);
        worst.set(label, worse(figure, worst.get(label)));
      }
    }
    for (const figure of worst.values()) {
      const { passed, text } = verdictOn(figure);
      if (passed) process.exitCode = 1;
      console.log(`  worst    ${figure.label.padEnd(32)} ${figure.value.toFixed(2).padStart(7)}  ${text}`);
    }
    const file = path.join(raw, `${bench.name}-${new Date().toISOString().replaceAll(":", "")}.json`);
    fs.writeFileSync(file, `${JSON.stringify({ bench: bench.name, conditions, rounds })}\n`);
    console.log(`  raw      ${path.relative(process.cwd(), file)}`);
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}
