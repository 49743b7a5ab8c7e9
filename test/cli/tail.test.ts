import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { openOutputLog, outputLogOf } from "../../backends/output-log.js";
import { fileLines } from "../../src/cli/tail.js";
import { temporaryDirectory } from "../helpers/temp.js";

it("follows a log that grows large and begins anew, without losing a line", async () => {
  const runDir = temporaryDirectory();
  const log = openOutputLog(runDir, undefined, 1_000);
  let over = false;
  const seen: string[] = [];
  const follow = { follow: true, isOver: () => over };
  const first = "a first line that is there already";
  log.write(Buffer.from(`${first}\n`));
  for await (const line of fileLines(outputLogOf(runDir), follow, AbortSignal.timeout(20_000))) {
    seen.push(line);
    // Written in answer to what was read: it turns over once, in the middle of a chunk of writes.
    if (seen.length <= 60 && seen.length % 20 === 1)
      for (let n = 0; n < 20; n++) log.write(Buffer.from(`${seen.length} ${n} ${"x".repeat(30)}\n`));
    over = seen.length > 60;
  }
  log.close();
  expect(seen).toHaveLength(61);
  expect(new Set(seen).size).toBe(61);
  for (const name of [outputLogOf(runDir), `${outputLogOf(runDir)}.1`])
    expect(fs.statSync(name).size).toBeLessThan(1_100);
  expect(fs.readdirSync(runDir).sort()).toEqual([path.basename(outputLogOf(runDir)), "output.log.1"]);
});
