import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { findLaunchProblem } from "../../backends/preflight.js";
import { teammateConfig } from "../helpers/teammate.js";
import { temporaryDirectory } from "../helpers/temp.js";

describe("before anything is started", () => {
  const problem = (argv: readonly string[], env: Record<string, string> = {}) =>
    findLaunchProblem(
      teammateConfig(temporaryDirectory(), "a", argv, { env: { PATH: "/usr/bin:/bin", ...env } }),
    );

  it.runIf(process.platform === "linux")("one string may have as many bytes as the system takes", () => {
    const most = 128 * 1024 - 1;
    expect(problem(["cat", "x".repeat(most)])).toBeUndefined();
    expect(problem(["cat", "-", "x".repeat(most + 1)])).toEqual({
      code: "argument-too-long",
      reason: `argument 2 has ${most + 1} bytes, and the system takes ${most} at most: put it into a file and pass the file's path`,
    });
    // Bytes, not characters; and a variable counts with its name.
    expect(problem(["cat", "é".repeat(most / 2 + 1)])?.code).toBe("argument-too-long");
    expect(problem(["cat"], { BIG: "x".repeat(most - 4) })).toBeUndefined();
    expect(problem(["cat"], { BIG: "x".repeat(most - 3) })?.reason).toContain("the variable BIG");
  });

  it("all strings together may be long, but not longer than the system takes", () => {
    expect(problem(["cat", "x".repeat(100_000), "x".repeat(100_000)])).toBeUndefined();
    expect(problem(["cat", ...Array.from({ length: 30 }, () => "x".repeat(100_000))])?.reason).toContain(
      "together",
    );
  });

  it("no string may hold a NUL, and program and directory have to be there", () => {
    expect(problem(["cat", "a\0b"])?.code).toBe("nul-in-argument");
    expect(problem(["cat"], { A: "\0" })?.code).toBe("nul-in-argument");
    expect(problem(["troupe-no-such-program"])?.code).toBe("program-missing");
    const dir = temporaryDirectory();
    const file = path.join(dir, "file");
    fs.writeFileSync(file, "");
    expect(problem([file])?.code).toBe("program-missing");
    expect(findLaunchProblem(teammateConfig(dir, "a", ["cat"], { cwd: file }))?.code).toBe("cwd-missing");
  });
});
