import { createHash } from "node:crypto";
import path from "node:path";

/** The environment variable by which a teammate's stray descendants are found again. */
export const runIdVariable = "TROUPE_RUN_ID";

/** The value of {@link runIdVariable} for the incarnation that lives in `runDir`: 16 hex digits. */
export function runIdOf(runDir: string): string {
  return createHash("sha256").update(path.resolve(runDir)).digest("hex").slice(0, 16);
}

/** The environment of a teammate's process, but for the `TERM` of a terminal. */
export function teammateEnvironment(config: {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly runDir: string;
}): Record<string, string> {
  return { ...config.env, PWD: config.cwd, [runIdVariable]: runIdOf(config.runDir) };
}
