import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { endGroup, groupRuns } from "../../src/util/process-group.js";
import { identityOf, readStat } from "../../src/util/process-identity.js";
import { waitUntil } from "../../src/util/wait.js";
import { bundleScript } from "../helpers/bundle.js";
import { temporaryDirectory } from "../helpers/temp.js";

describe("process groups", () => {
  it("end with the process that guards them, whatever it was doing", async () => {
    const pidFile = path.join(temporaryDirectory(), "pid");
    const script = bundleScript(path.join(import.meta.dirname, "processes/exit-while-running.ts"));
    const { status, stderr } = spawnSync(process.execPath, [script, pidFile], {
      encoding: "utf8",
      timeout: 20_000,
    });
    expect([status, stderr]).toEqual([7, ""]);
    const pid = Number(fs.readFileSync(pidFile, "utf8"));
    await waitUntil("the command's end", () => identityOf(pid) === undefined, { timeoutMs: 5000 });
  });

  it.runIf(process.platform === "linux")("do not run by their zombies alone", async () => {
    // The leader of a session of its own ends, and its parent, which became another program, never asks.
    const child = spawn("bash", ["-c", "setsid bash -c 'echo $$' & exec sleep 60"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    try {
      const [chunk] = await once(child.stdout, "data");
      const pgid = Number(String(chunk));
      await waitUntil("its end", () => readStat(pgid)?.state === "Z", { timeoutMs: 5000 });
      expect(groupRuns(pgid)).toBe(false);
    } finally {
      child.kill("SIGKILL");
    }
  });

  it("run as long as one process of theirs does", async () => {
    const child = spawn("bash", ["-c", "sleep 60 & echo ready; exec sleep 60"], {
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const pgid = child.pid ?? 0;
    try {
      await once(child.stdout, "data");
      expect(groupRuns(pgid)).toBe(true);
      process.kill(pgid, "SIGKILL");
      await once(child, "exit");
      expect(groupRuns(pgid)).toBe(true);
      expect(await endGroup(pgid, 2000)).toBe(true);
      expect(groupRuns(pgid)).toBe(false);
    } finally {
      if (groupRuns(pgid)) process.kill(-pgid, "SIGKILL");
    }
  });

  it("are gone already where they are", async () => {
    const child = spawn("true", { detached: true, stdio: "ignore" });
    await once(child, "exit");
    expect(await endGroup(child.pid ?? 0, 1000)).toBe(true);
  });
});
