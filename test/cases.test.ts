import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "./helpers/temp.js";

const script = path.join(import.meta.dirname, "../scripts/cases");
const list = fs.readFileSync(path.join(import.meta.dirname, "cases.md"), "utf8");

function check(text = list) {
  const file = path.join(temporaryDirectory(), "cases.md");
  fs.writeFileSync(file, text);
  const { status, stdout, stderr } = spawnSync(script, [file], { encoding: "utf8", timeout: 60_000 });
  return { status, stdout, problems: stderr.split("\n").slice(0, -1) };
}

describe("the list of what goes wrong elsewhere", () => {
  it("is whole, and names tests and files that there are", () => {
    const { status, stdout, problems } = check();
    expect(problems).toEqual([]);
    expect(stdout).toMatch(
      /^289 cases: \d+ held by a test, \d+ impossible by construction, \d+ not built yet; 0 problems\n$/,
    );
    expect(status).toBe(0);
  });

  it("is not when a row is missing, double, unknown, empty or names what there is not", () => {
    const own = "test/cases.test.ts";
    const { status, problems } = check(
      list
        .replace(/^\| T1 .*\n/m, "")
        .replace(/^\| T2 .*\n/m, "$&$&")
        .replace(/^\| T3 +\|/m, "| T999 |")
        .replace(/^\| T4 +\|.*$/m, "| T4 | a symptom |  |")
        .replace(/^\| T5 +\|.*$/m, `| T5 | a symptom | \`${own} > "no such test"\` |`)
        .replace(/^\| T6 +\|.*$/m, '| T6 | a symptom | `test/none.test.ts > "x"` |')
        .replace(/^\| T7 +\|.*$/m, "| T7 | a symptom | by construction: `src/none.ts` |")
        .replace(/^\| T8 +\|.*$/m, "| T8 | a symptom | it cannot happen |")
        .replace(
          /^\| T9 +\|.*$/m,
          `| T9 | a symptom | \`${own} > "the list of what goes wrong elsewhere"\` |`,
        )
        .replace(/^\| T10 +\|.*$/m, `| T10 | a symptom | \`${own} > "is whole"\` |`),
    );
    expect(status).toBe(1);
    expect(problems.sort()).toEqual([
      'T10: no test test/cases.test.ts > "is whole"',
      "T1: is not there",
      "T2: is there 2 times",
      "T3: is not there",
      "T4: not three cells with something in each",
      'T5: no test test/cases.test.ts > "no such test"',
      "T6: no file test/none.test.ts",
      "T7: no file src/none.ts",
      "T8: names no test",
      "T999: is no known id",
      'T9: no test test/cases.test.ts > "the list of what goes wrong elsewhere"',
    ]);
  });
});
