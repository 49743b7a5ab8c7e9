// Applies each mutant of scripts/lib/mutant-list.mjs to a copy of the tree and runs the tests that should notice.
//
//   scripts/mutants [WORD...]    only mutants whose file or reason contains one of the words
//
// Exit code 1 where a mutant survives, 2 where one does not fit the code any more or its tests fail without it.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { mutants } from "./lib/mutant-list.mjs";

const root = path.resolve(import.meta.dirname, "..");
const words = process.argv.slice(2);
const wanted = mutants.filter(
  ({ file, why }) => words.length === 0 || words.some((word) => `${file} ${why}`.includes(word)),
);

/** How long the tests of one mutant may take; a mutant that hangs them is noticed, too. */
const timeout = 300_000;

const copy = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "troupe-mutants-")));
let survivors = 0;
try {
  const stale = wanted.filter(({ file, find }) => read(root, file).split(find).length !== 2);
  for (const { file, why } of stale) console.error(`does not fit ${file} any more: ${why}`);
  if (stale.length > 0) process.exitCode = 2;
  else if (copyTree() && testsPass()) survivors = wanted.filter((mutant) => !isNoticed(mutant)).length;
  else process.exitCode = 2;
} finally {
  fs.rmSync(copy, { recursive: true, force: true });
}
if (process.exitCode === undefined) {
  console.log(`${wanted.length} mutants, ${survivors} survived`);
  process.exitCode = survivors > 0 ? 1 : 0;
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
  return list.status === 0;
}

function testsPass() {
  const tests = [...new Set(wanted.flatMap((mutant) => mutant.tests))];
  const { passed, output } = runTests(tests);
  if (!passed) console.error(`${output}\nthe tests fail without any mutant`);
  return passed;
}

/** @param {import("./lib/mutant-list.mjs").Mutant} mutant */
function isNoticed({ file, find, replace, why, tests }) {
  const original = read(copy, file);
  const start = performance.now();
  fs.writeFileSync(
    path.join(copy, file),
    original.replace(find, () => replace),
  );
  const { passed } = runTests(tests);
  fs.writeFileSync(path.join(copy, file), original);
  const seconds = Math.round((performance.now() - start) / 1000);
  console.log(`${passed ? "SURVIVED" : "noticed "} ${String(seconds).padStart(4)} s  ${file}: ${why}`);
  return !passed;
}

/** @param {readonly string[]} tests */
function runTests(tests) {
  const vitest = path.join(copy, "node_modules/vitest/vitest.mjs");
  const args = ["run", "--reporter=dot", "--bail=1", ...tests];
  const { status, stdout, stderr } = spawnSync(process.execPath, [vitest, ...args], {
    cwd: copy,
    timeout,
    encoding: "utf8",
  });
  return { passed: status === 0, output: `${stdout}${stderr}`.slice(-5000) };
}

/** @param {string} directory @param {string} file */
function read(directory, file) {
  return fs.readFileSync(path.join(directory, file), "utf8");
}
