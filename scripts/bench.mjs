// Measures what the product promises, each time against a floor that does the least possible, in turns in one run.
//
//   npm run bench -- NAME [--rounds 3] [--runs N]
//
// Of several rounds the worst counts. Raw samples are kept in .bench/. Exit code 1 where a limit is passed.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { mailboxLatency, mailboxSends } from "./lib/bench-mailbox.mjs";
import { sendCost } from "./lib/bench-send.mjs";
import { ensureBuilt } from "./lib/ensure-built.mjs";

/** @type {Record<string, readonly import("./lib/bench.mjs").Bench[]>} */
const benches = { send: [sendCost], mailbox: [mailboxLatency, mailboxSends] };

const { values, positionals } = parseArgs({
  options: { rounds: { type: "string", default: "3" }, runs: { type: "string" } },
  allowPositionals: true,
});
const [name = ""] = positionals;
if (!Object.hasOwn(benches, name)) {
  console.error(`bench: say which: ${Object.keys(benches).join(", ")}`);
  process.exit(2);
}

const command = ensureBuilt();
const raw = path.resolve(import.meta.dirname, "../.bench");
fs.mkdirSync(raw, { recursive: true });
console.log(
  `node ${process.version}, ${os.availableParallelism()} cores, ${os.cpus()[0]?.model ?? "unknown"}`,
);
for (const bench of benches[name]) {
  console.log(`\n${bench.title}`);
  const scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "troupe-bench-")));
  try {
    const rounds = [];
    const worst = new Map();
    for (let round = 1; round <= Number(values.rounds); round++) {
      const dir = path.join(scratch, String(round));
      fs.mkdirSync(dir);
      const { samples, figures } = await bench.measure({
        command,
        dir,
        runs: Number(values.runs ?? bench.runs),
      });
      rounds.push(samples);
      for (const { label, ratio, text, limit } of figures) {
        console.log(`  round ${round}  ${label.padEnd(28)} ${text}  ratio ${ratio.toFixed(2)}`);
        if (ratio > (worst.get(label)?.ratio ?? 0)) worst.set(label, { ratio, limit });
      }
    }
    for (const [label, { ratio, limit }] of worst) {
      const verdict =
        limit === undefined ? "" : ratio <= limit ? `, at most ${limit}: ok` : `, PAST ${limit}`;
      if (limit !== undefined && ratio > limit) process.exitCode = 1;
      console.log(`  worst    ${label.padEnd(28)} ${ratio.toFixed(2)}${verdict}`);
    }
    const file = path.join(raw, `${bench.name}-${new Date().toISOString().replaceAll(":", "")}.json`);
    fs.writeFileSync(file, `${JSON.stringify({ bench: bench.name, node: process.version, rounds })}\n`);
    console.log(`  raw      ${path.relative(process.cwd(), file)}`);
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}
