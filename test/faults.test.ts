import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { builtCommand } from "./helpers/built.js";

it.runIf(process.platform === "linux")(
  "mail survives system calls that kill the command or fail (needs strace, which is for Linux)",
  { timeout: 600_000 },
  async () => {
    await builtCommand();
    const script = path.join(import.meta.dirname, "../scripts/faults");
    const child = spawn(script, ["--quick"], { stdio: ["ignore", "pipe", "pipe"] });
    const ended = once(child, "exit");
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(stderr).toBe("");
    // On a busy machine the time is up before all is tried.
    const [sum, runs] = /^(\d+) runs, \d+ with their fault, 0 violations$/m.exec(stdout) ?? [];
    process.stdout.write(`scripts/faults --quick: ${sum}\n`);
    expect(Number(runs)).toBeGreaterThanOrEqual(200);
    expect(await ended).toEqual([0, null]);
  },
);
