import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import type { TeammateSpawnConfig } from "../../backends/types.js";

/** A spawn configuration for a program named `name`, with a run directory of its own below `dir`. */
export function teammateConfig(
  dir: string,
  name: string,
  argv: readonly string[],
  overrides: Partial<TeammateSpawnConfig> = {},
): TeammateSpawnConfig {
  const runDir = path.join(dir, "run", randomBytes(4).toString("hex"));
  fs.mkdirSync(runDir, { recursive: true, mode: 0o700 });
  return {
    agentId: `${name}@team`,
    name,
    team: "team",
    colour: 33,
    cwd: dir,
    env: { PATH: process.env["PATH"] ?? "", HOME: dir },
    launch: { kind: "argv", argv },
    runDir,
    placement: { layout: "main-vertical", leadWidth: 40, maxPanesPerWindow: 9 },
    deadlineMs: 10_000,
    ...overrides,
  };
}
