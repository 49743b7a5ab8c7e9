import { faults } from "./strace.mjs";

/**
 * @typedef {object} Outcome
 * @property {import("./strace.mjs").Call & { scenario: string, fault: string }} injection
 * @property {import("./strace.mjs").Ending} result
 * @property {boolean} struck whether the run came to its fault
 * @property {readonly string[]} wrong
 */

/** Tells a violation, with the line that repeats it. @param {Outcome} outcome */
export function report({ injection, result: { exitCode, signal, stdout, stderr }, wrong }) {
  const { scenario, thread, call, place, fault } = injection;
  const lines = [
    `VIOLATION: scripts/faults ${scenario} --at ${thread}:${call}:${place}:${fault}`,
    ...wrong.map((text) => `  ${text}`),
    `  exit: ${exitCode ?? signal}`,
    `  stdout: ${stdout.slice(-400)}`,
    `  stderr: ${stderr.slice(-800)}`,
  ];
  console.error(`\n${lines.join("\n")}`);
}

/** Prints how often each fault struck each kind of call, and the sums. @param {readonly Outcome[]} outcomes */
export function printTable(outcomes) {
  const width = Math.max(7, ...faults.map((fault) => fault.length)) + 1;
  const title = [
    "scenario".padEnd(10),
    "thread",
    "call".padEnd(10),
    ...faults.map((fault) => fault.padStart(width)),
  ];
  console.log([...title, "violations"].join(" "));
  for (const [row, of] of grouped(outcomes)) {
    const counts = faults.map((fault) => {
      const tried = of.filter(({ injection }) => injection.fault === fault);
      const struck = tried.filter((outcome) => outcome.struck).length;
      return (struck === tried.length ? `${struck}` : `${struck}/${tried.length}`).padStart(width);
    });
    console.log([row, ...counts, String(violationsIn(of)).padStart(10)].join(" "));
  }
  const struck = outcomes.filter((outcome) => outcome.struck).length;
  console.log(`${outcomes.length} runs, ${struck} with their fault, ${violationsIn(outcomes)} violations`);
}

/** Threads take turns, so that now and then a call is not reached; many of them would mean that nothing was tried. */
export function failedFaults(/** @type {readonly Outcome[]} */ outcomes) {
  return violationsIn(outcomes) > 0 || outcomes.filter(({ struck }) => struck).length < 0.9 * outcomes.length;
}

/** @param {readonly Outcome[]} outcomes */
function violationsIn(outcomes) {
  return outcomes.filter(({ wrong }) => wrong.length > 0).length;
}

/** @param {readonly Outcome[]} outcomes @returns {[string, Outcome[]][]} */
function grouped(outcomes) {
  /** @type {Map<string, Outcome[]>} */
  const rows = new Map();
  for (const outcome of outcomes) {
    const { scenario, thread, call } = outcome.injection;
    const row = [scenario.padEnd(10), thread.padEnd(6), call.padEnd(10)].join(" ");
    rows.set(row, [...(rows.get(row) ?? []), outcome]);
  }
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
}
