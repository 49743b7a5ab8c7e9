// @ts-check

/** @import { Availability } from "troupe/backends" */

import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * Whether there is a screen that can be used. Codes: `ok`, `screen-missing`, `screen-failed`, `screen-too-old`.
 * @param {string} program @param {Readonly<Record<string, string | undefined>>} env @returns {Promise<Availability>}
 */
export async function probeScreen(program, env) {
  const remedy =
    process.platform === "darwin"
      ? "brew install screen"
      : "install the package screen (apt-get install screen)";
  const answer = await run(program, ["-v"], { env, timeout: 10_000 }).catch(
    // Older ones tell their version and exit with 1.
    (/** @type {Error & { code?: unknown, stdout?: string }} */ error) => error,
  );
  if ("code" in answer && answer.code === "ENOENT")
    return { available: false, code: "screen-missing", reason: `there is no program ${program}`, remedy };
  const [version, major, minor] = /(\d+)\.(\d+)[\d.]*/.exec(answer.stdout ?? "") ?? [];
  if (version === undefined)
    return { available: false, code: "screen-failed", reason: `${program} -v tells no version`, remedy };
  // Since that one it takes commands by a socket, each whole and in its order.
  if (Number(major) < 4 || (Number(major) === 4 && Number(minor) < 6))
    return { available: false, code: "screen-too-old", reason: "it must be 4.6 or newer", remedy, version };
  return { available: true, code: "ok", reason: "screen is installed", version };
}
