// Applies each mutant of scripts/lib/mutant-list.mjs to a copy of the tree and runs the tests that should notice.
//
//   scripts/mutants [WORD...]    only mutants whose file or reason contains one of the words
//
// Exit code 1 where a mutant survives, 2 where one does not fit the code any more or its tests fail without it (unclear).
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { mutants } from "./lib/mutant-list.mjs";

const root = path.resolve(import.meta.dirname, "..");
const words = process.argv.slice(2);
const wanted = mutants.filter(
  ({ file, why }) => words.length === 0 || words.some((word) => `${file} ${why}`.includes(word)),
);

/** How many seconds the tests of one mutant may take, unless it says less; one that hangs them is noticed, too. */
const patience = 600;

const copy = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "troupe-mutants-")));
const verdicts = [];
/** @type {Map<string, boolean>} */
const healthy = new Map();
try {
  const stale = wanted.filter(({ file, find }) => read(root, file).split(find).length !== 2);
  for (const { file, why } of stale) console.error(`does not fit ${file} any more: ${why}`);
  if (stale.length > 0) process.exitCode = 2;
  else {
    copyTree();
    for (const mutant of wanted) verdicts.push(await judge(mutant));
  }
} finally {
  fs.rmSync(copy, { recursive: true, force: true });
}
if (process.exitCode === undefined) {
  const count = (verdict) => verdicts.filter((other) => other === verdict).length;
  const killed = count("noticed") + count("hung");
  console.log(
    `${wanted.length} mutants: ${killed} killed, ${count("SURVIVED")} survived, ${count("UNCLEAR")} unclear`,
  );
  process.exitCode = count("SURVIVED") > 0 ? 1 : count("UNCLEAR") > 0 ? 2 : 0;
}

/** What git tracks or would track, as it is in the checkout now. */
function copyTree() {
  const list = spawnSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
  });
  for (const file of list.stdout.toString().split("\0").filter(Boolean)) {
    if (!fs.existsSync(path.join(root, file))) continue;
    fs.mkdirSync(path.dirname(path.join(copy, file)), { recursive: true });
    fs.copyFileSync(path.join(root, file), path.join(copy, file));
  }
  fs.symlinkSync(path.join(root, "node_modules"), path.join(copy, "node_modules"));
  if (list.status !== 0) throw new Error(`git ls-files: ${list.stderr}`);
}

/** @param {import("./lib/mutant-list.mjs").Mutant} mutant */
async function judge(mutant) {
  const { file, why, tests } = mutant;
  const start = performance.now();
  const verdict = (await passWithout(tests)) ? await withChange(mutant) : "UNCLEAR";
  const seconds = Math.round((performance.now() - start) / 1000);
  console.log(`${verdict.padEnd(8)} ${String(seconds).padStart(4)} s  ${file}: ${why}`);
  return verdict;
}

/** Whether the tests pass without any mutant. */
async function passWithout(tests) {
  const key = tests.join(" ");
  if (!healthy.has(key)) {
    const { passed, output } = await runTests(tests);
    if (!passed) console.error(output);
    healthy.set(key, passed);
  }
  return healthy.get(key);
}

/** @param {import("./lib/mutant-list.mjs").Mutant} mutant */
async function withChange({ file, find, replace, tests, seconds }) {
  const original = read(copy, file);
  fs.writeFileSync(
    path.join(copy, file),
    original.replace(find, () => replace),
  );
  const { passed, hung } = await runTests(tests, seconds);
  fs.writeFileSync(path.join(copy, file), original);
  return passed ? "SURVIVED" : hung ? "hung" : "noticed";
}

/** @param {readonly string[]} tests @param {number} seconds */
async function runTests(tests, seconds = patience) {
  const vitest = path.join(copy, "node_modules/vitest/vitest.mjs");
  const args = [vitest, "run", "--reporter=dot", "--bail=1", ...tests];
  const child = spawn(process.execPath, args, {
    cwd: copy,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let hung = false;
  const timer = setTimeout(() => {
    hung = true;
    // With its workers, one of which may be stuck in a system call.
    process.kill(-child.pid, "SIGKILL");
  }, seconds * 1000);
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  clearTimeout(timer);
  return { passed: status === 0, hung, output: `${stdout}${stderr}`.slice(-5000) };
}

/** @param {string} directory @param {string} file */
function read(directory, file) {
  return fs.readFileSync(path.join(directory, file), "utf8");
}
