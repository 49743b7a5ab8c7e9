// Runs `troupe send` and `troupe inbox` under strace, over and over: in each run one system call kills the process or
// fails. Afterwards nothing that was acknowledged may be lost, doubled or unseen, and mail must work as before.
//
//   scripts/faults [send|reader|follow|all] [--quick]
//
// `reader` is `troupe inbox`, `follow` is `troupe inbox --follow`. --quick takes a sample of the calls.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { ensureBuilt } from "./lib/ensure-built.mjs";
import { scenarios } from "./lib/fault-scenarios.mjs";
import { countCalls, runWithFault, straceProblem } from "./lib/strace.mjs";

const faults = ["SIGKILL", "ENOSPC", "EIO", "EMFILE", "EACCES"];

/** Runs per scenario with --quick. */
const quickRuns = 18;

const { values, positionals } = parseArgs({
  options: { quick: { type: "boolean" } },
  allowPositionals: true,
});
const wanted = positionals[0] ?? "all";
if (wanted !== "all" && !(wanted in scenarios))
  fail(`no scenario ${wanted}: ${Object.keys(scenarios).join(", ")}, all`);
const problem = straceProblem();
if (problem !== undefined) fail(problem);

const command = ensureBuilt();
const scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "troupe-faults-")));
const violations = [];
let runs = 0;
let struck = 0;
try {
  for (const [name, prepare] of Object.entries(scenarios))
    if (wanted === "all" || wanted === name) await explore(name, prepare);
} finally {
  fs.rmSync(scratch, { recursive: true, force: true });
}
for (const violation of violations) console.error(`\n${violation}`);
console.log(`${runs} runs, ${struck} with their fault, ${violations.length} violations`);
// Threads take turns, so that now and then a call is not reached; many of them would mean that nothing was tried.
process.exitCode = violations.length > 0 || struck < 0.9 * runs ? 1 : 0;

/** @param {string} name @param {typeof scenarios.send} prepare */
async function explore(name, prepare) {
  const counting = await prepare(path.join(scratch, `${name}-count`), command);
  const { argv, until } = await counting.begin();
  const calls = await countCalls(argv, { ...counting, until, log: path.join(scratch, "log") });
  const all = calls.flatMap((call) => faults.map((fault) => ({ ...call, fault })));
  const injections = values.quick ? sample(all, quickRuns) : all;
  const failures = new Map();
  const lanes = Array.from({ length: os.availableParallelism() }, async (_, lane) => {
    const scenario = await prepare(path.join(scratch, `${name}-${lane}`), command);
    for (let next = injections.shift(); next !== undefined; next = injections.shift()) {
      const round = await scenario.begin();
      const log = path.join(scratch, `log-${lane}`);
      const result = await runWithFault(round.argv, next, { env: scenario.env, log, until: round.until });
      runs++;
      if (result.struck) struck++;
      const wrong = await round.check(result);
      const tally = failures.get(next.call) ?? { runs: 0, violations: 0 };
      tally.runs++;
      if (wrong.length > 0) tally.violations++;
      failures.set(next.call, tally);
      if (wrong.length > 0) violations.push(describe(name, next, result, wrong));
    }
  });
  await Promise.all(lanes);
  for (const [call, tally] of failures) {
    const seen = calls.filter((found) => found.call === call).length;
    console.log(
      `${name.padEnd(7)} ${call.padEnd(10)} ${String(seen).padStart(3)} calls ${String(tally.runs).padStart(4)} runs ${tally.violations} violations`,
    );
  }
}

/** Evenly spread, so that every kind of call and of fault is among them. */
function sample(list, size) {
  return Array.from(
    { length: Math.min(size, list.length) },
    (_, place) => list[Math.floor((place * list.length) / size)],
  );
}

function describe(name, { call, nth, fault }, { exitCode, signal, stdout, stderr }, wrong) {
  return [
    `${name}: ${fault} at ${call} number ${nth}: exit ${exitCode ?? signal}`,
    ...wrong.map((text) => `  ${text}`),
    `  stdout: ${stdout.slice(-400)}`,
    `  stderr: ${stderr.slice(-800)}`,
  ].join("\n");
}

function fail(message) {
  console.error(`faults: ${message}`);
  process.exit(2);
}
