// Checks test/cases.md: that every known id is in it once, that no cell is empty, and that the tests and files which it
// names exist. Prints how many cases are held by a test, how many cannot happen, and how many are not built yet.
import fs from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "..");
const list = process.argv[2] ?? path.join(root, "test/cases.md");

const expected = [
  ...idsOf("T", "1-13 15-22 24-29 31-46 48-59 61-70 72-108 111-115 117 119-120 122-127 129 131-143"),
  ...idsOf("P", "1-46 48-57 59-68 70-85 87 89-103 105-147 149-152 154 156-161 163-165 167-170"),
];

/** Where the cases are that every executor is held to; a promise there is the key of its check. */
const contract = "backends/contract/";

const problems = [];
const counts = { test: 0, construction: 0, missing: 0 };
const seen = new Map();
const text = fs.readFileSync(list, "utf8");
for (const line of text.split("\n")) {
  if (/^\| (id|-+) /.test(line) || !line.startsWith("|")) continue;
  const [, id = "", ...cells] = line.split("|").map((cell) => cell.trim());
  seen.set(id, (seen.get(id) ?? 0) + 1);
  if (cells.length !== 3 || cells[0] === "" || cells[1] === "" || cells[2] !== "")
    problems.push(`${id}: not three cells with something in each`);
  else checkHold(id, cells[1]);
}
for (const id of expected) if (seen.get(id) === undefined) problems.push(`${id}: is not there`);
for (const [id, times] of seen) {
  if (times > 1) problems.push(`${id}: is there ${times} times`);
  if (!expected.includes(id)) problems.push(`${id}: is no known id`);
}

for (const problem of problems) console.error(problem);
console.log(
  `${seen.size} cases: ${counts.test} held by a test, ${counts.construction} impossible by construction, ${counts.missing} not built yet; ${problems.length} problems`,
);
process.exitCode = problems.length > 0 ? 1 : 0;

/** What holds a case: counts its kind, and looks for all that it names. @param {string} id @param {string} hold */
function checkHold(id, hold) {
  const named = Array.from(hold.matchAll(/`([^`]+)`/g), ([, code]) => code);
  const tests = named.filter((code) => code.startsWith("test/") || code.startsWith(contract));
  const files = named.filter((code) => /^(src|mailbox|backends|docs)\//.test(code) && !tests.includes(code));
  for (const test of tests) checkTest(id, test);
  for (const file of files)
    if (!fs.existsSync(path.join(root, file))) problems.push(`${id}: no file ${file}`);
  if (/^not built yet: \S/.test(hold)) counts.missing++;
  else if (/^by construction: `/.test(hold)) {
    counts.construction++;
    if (files.length === 0) problems.push(`${id}: by construction of which file?`);
  } else {
    counts.test++;
    if (tests.length === 0) problems.push(`${id}: names no test`);
  }
}

/** @param {string} id @param {string} test `FILE > "NAME"` */
function checkTest(id, test) {
  const [, file, name] = /^(\S+\.ts) > "(.+)"$/.exec(test) ?? [];
  if (file === undefined) problems.push(`${id}: not a file and a name: ${test}`);
  else if (!fs.existsSync(path.join(root, file))) problems.push(`${id}: no file ${file}`);
  else if (!testsOf(file).some((template) => isNameOf(name, template, file)))
    problems.push(`${id}: no test ${test}`);
}

/** A test's own name, the beginning of one with placeholders, or, where it is nothing but one, what a row puts in. */
function isNameOf(name, template, file) {
  const before = template.split(/[%$]/)[0].trimEnd();
  if (name === template || (before !== "" && before !== template && name === before)) return true;
  return template === "%s" && read(file).includes(`"${name}"`);
}

/** The names of a file's tests as they are written. Relies on how the formatter lays code out. */
function testsOf(file) {
  const names = [];
  if (file.startsWith(contract))
    for (const [, key] of read(file).matchAll(/^ {2}(?:async )?"((?:\\.|[^"\\])*)"(?:\(|: )/gm))
      names.push(key);
  for (const [statement, indent] of read(file).matchAll(
    /^( *)(?:it|test)\b[^\n]*(?:\n(?:\1[ \])][^\n]*)?)*/gm,
  )) {
    const call = statement.slice(indent.length).replace(/^(it|test)\.(runIf|skipIf)\([^\n]*?\)\(/, "$1(");
    const direct = /^(?:it|test)\(\s*"((?:\\.|[^"\\])*)"/.exec(call);
    const table = /^(?:it|test)\.(?:each|for)\b[\s\S]*?\)\(\s*"((?:\\.|[^"\\])*)"/.exec(call);
    const name = (direct ?? table)?.[1];
    if (name !== undefined) names.push(JSON.parse(`"${name}"`));
  }
  return names;
}

function read(file) {
  return fs.readFileSync(path.join(root, file), "utf8");
}

/** @param {string} letter @param {string} ranges */
function idsOf(letter, ranges) {
  return ranges.split(" ").flatMap((range) => {
    const [first, last = first] = range.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => `${letter}${first + index}`);
  });
}
