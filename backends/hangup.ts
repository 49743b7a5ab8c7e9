import fs from "node:fs";
import { errnoOf } from "../src/util/errors.js";
import { readStat } from "../src/util/process-identity.js";

/**
 * Whether a process gets a HUP when the first process of its terminal ends or the terminal closes, and does not ignore it:
 * it is in the foreground there, as all are that a shell without job control starts. Linux only: elsewhere the answer is
 * false.
 */
export function hearsHangup(pid: number): boolean {
  if (process.platform !== "linux") return false;
  const stat = readStat(pid);
  return stat !== undefined && stat.tpgid === stat.pgid && !ignoresHangup(pid);
}

function ignoresHangup(pid: number): boolean {
  try {
    // A mask in hexadecimal; HUP is signal 1, its lowest bit.
    const [, digit = "0"] =
      /^SigIgn:\s*[\da-f]*([\da-f])$/m.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number.parseInt(digit, 16) % 2 === 1;
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes(errnoOf(error) ?? "")) return false;
    throw error;
  }
}
