import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { openOutputLog, outputLogOf, readOutputTail } from "../../backends/output-log.js";
import { temporaryDirectory } from "../helpers/temp.js";

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `${from + index}\n`).join("");

describe("the end of a run's output", () => {
  it("is there right after the log has begun anew, without a gap", () => {
    const dir = temporaryDirectory();
    const log = openOutputLog(dir, undefined, 1000);
    log.write(Buffer.from(numbers(0, 1000)));
    log.write(Buffer.from("1000\n10"));
    expect(fs.readFileSync(outputLogOf(dir), "utf8")).toBe("1000\n10");
    log.write(Buffer.from("01\n"));
    log.close();
    expect(`${readOutputTail(dir, 6)}\n`).toBe(numbers(996, 1002));
    // As in the moment between the two.
    fs.rmSync(outputLogOf(dir));
    expect(readOutputTail(dir, 2)).toBe("998\n999");
  });

  it("is of the newer file alone where that is long enough", () => {
    const dir = temporaryDirectory();
    fs.writeFileSync(`${outputLogOf(dir)}.1`, "old\n");
    fs.writeFileSync(outputLogOf(dir), numbers(0, 100_000));
    expect(readOutputTail(dir, 1_000_000)).not.toContain("old");
  });

  it("is empty where there is no log, and where something else has taken its place", () => {
    const dir = temporaryDirectory();
    expect(readOutputTail(dir, 10)).toBe("");
    fs.mkdirSync(outputLogOf(dir));
    execFileSync("mkfifo", [path.join(dir, "output.log.1")]);
    expect(readOutputTail(dir, 10)).toBe("");
    fs.renameSync(`${outputLogOf(dir)}.1`, path.join(dir, "pipe"));
    fs.rmdirSync(outputLogOf(dir));
    fs.renameSync(path.join(dir, "pipe"), outputLogOf(dir));
    expect(readOutputTail(dir, 10)).toBe("");
  });
});
