// Sends and reads mail under strace, over and over: with the real commands, the library, an agent and a foreign sender. In each
// run one system call kills the program or fails. Afterwards nothing that was accepted may be lost, doubled or unseen, a
// failure must have been told, and mail must work as before.
//
//   scripts/faults [SCENARIO...]             every call with every fault (of a kind that comes often, 60): thousands of runs
//   scripts/faults --quick [--seed N]        some hundreds, spread over all kinds of calls, in a minute or two
//   scripts/faults send --at main:link:1:EIO one run, as the report of a violation names it, or those that begin so
//
// --jobs N: programs at a time (default: one per core). --seconds N: begin no run after that, but for the
// first 200 (--quick: 60).
// Exit code 1 where anything is violated, or where too few runs came to their fault.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { ensureBuilt } from "./lib/ensure-built.mjs";
import { failedFaults, printTable, report } from "./lib/fault-report.mjs";
import { sample, thinned } from "./lib/fault-sample.mjs";
import { scenarios } from "./lib/fault-scenarios.mjs";
import { countCalls, faults, runWithFault, straceProblem } from "./lib/strace.mjs";

/** At how many places of one program a kind of call is struck at most, spread evenly. */
const mostPlaces = 60;

/** Runs with --quick, and how many of them there are at least, however slow the machine. */
const quickRuns = 320;
const leastRuns = 200;

const { values, positionals } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    seed: { type: "string", default: "1" },
    at: { type: "string" },
    jobs: { type: "string", default: String(os.availableParallelism()) },
    seconds: { type: "string" },
  },
  allowPositionals: true,
});
const wanted = positionals.length === 0 || positionals[0] === "all" ? Object.keys(scenarios) : positionals;
const unknown = wanted.find((name) => !Object.hasOwn(scenarios, name));
if (unknown !== undefined) fail(`no scenario ${unknown}: ${Object.keys(scenarios).join(", ")}, all`);
const problem = straceProblem();
if (problem !== undefined) fail(problem);

const command = ensureBuilt();
const scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "troupe-faults-")));
const outcomes = [];
let left = 0;
try {
  const injections = choose(await Promise.all(wanted.map(callsOf)));
  if (injections.length === 0) fail("nothing to try");
  const deadline = performance.now() + 1000 * Number(values.seconds ?? (values.quick ? 60 : Infinity));
  const all = injections.length;
  await inLanes(async (lane) => {
    const prepared = new Map();
    for (let next = injections.shift(); next !== undefined; next = injections.shift()) {
      if (performance.now() > deadline && outcomes.length >= leastRuns) return void left++;
      const home = path.join(scratch, `${next.scenario}-${lane}`);
      if (!prepared.has(next.scenario))
        prepared.set(next.scenario, await scenarios[next.scenario].prepare(home, command));
      const outcome = await attempt(prepared.get(next.scenario), next, path.join(scratch, `log-${lane}`));
      outcomes.push(outcome);
      if (outcome.wrong.length > 0) report(outcome);
      if (process.stderr.isTTY) process.stderr.write(`\r${outcomes.length} of ${all} `);
    }
  });
  left += injections.length;
} finally {
  fs.rmSync(scratch, { recursive: true, force: true });
}
if (process.stderr.isTTY) process.stderr.write("\r");
printTable(outcomes);
if (left > 0) console.log(`${left} more were not begun in time`);
if (values.quick) console.log(`seed ${values.seed}`);
process.exitCode = failedFaults(outcomes) ? 1 : 0;

/**
 * @param {string} scenario
 * @returns {Promise<(import("./lib/strace.mjs").Call & { scenario: string })[]>}
 */
async function callsOf(scenario) {
  const home = path.join(scratch, `${scenario}-count`);
  const { begin } = await scenarios[scenario].prepare(home, command);
  const round = begin();
  const calls = await countCalls(round.program, { home, log: `${home}.log` });
  return calls.map((call) => ({ ...call, scenario }));
}

/** @param {Awaited<ReturnType<typeof callsOf>>[]} callsByScenario */
function choose(callsByScenario) {
  const { at } = values;
  // Who waits looks again and again, in one and the same way.
  const tried =
    at === undefined ? callsByScenario.map((calls) => thinned(calls, mostPlaces)) : callsByScenario;
  const all = tried.map((calls) => calls.flatMap((call) => faults.map((fault) => ({ ...call, fault }))));
  if (at !== undefined)
    return all
      .flat()
      .filter(({ thread, call, place, fault }) =>
        `${thread}:${call}:${place}:${fault}:`.startsWith(`${at}:`),
      );
  if (!values.quick) return all.flat();
  const weights = wanted.map((name) => scenarios[name].weight);
  return sample(all, weights, quickRuns, Number(values.seed));
}

/**
 * @param {{ begin: () => import("./lib/fault-scenarios.mjs").Round }} scenario
 * @param {ReturnType<typeof choose>[number]} injection
 * @param {string} log
 */
async function attempt({ begin }, injection, log) {
  const round = begin();
  const result = await runWithFault(round.program, injection, log);
  return { injection, result, struck: result.struck, wrong: await round.check(result, injection) };
}

/** @param {(lane: number) => Promise<void>} work */
async function inLanes(work) {
  await Promise.all(Array.from({ length: Number(values.jobs) }, (_, lane) => work(lane)));
}

/** @param {string} message @returns {never} */
function fail(message) {
  console.error(`faults: ${message}`);
  process.exit(2);
}
