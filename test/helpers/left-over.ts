import fs from "node:fs";
import path from "node:path";
import { teamPaths } from "../../src/team/paths.js";
import { identityOf, liveness, type ProcessIdentity } from "../../src/util/process-identity.js";
import { until } from "./until.js";

interface Found {
  readonly identity: ProcessIdentity;
  readonly command: string;
}

/**
 * Throws if anything of the teams under `home` (a TROUPE_HOME) is left: processes that have it in their environment,
 * sockets, temporary files in `tmp`. Processes get `timeoutMs` to be gone; those that stay are killed, so that the next
 * test starts clean.
 */
export async function expectNothingLeft(home: string, tmp: string, timeoutMs = 10_000): Promise<void> {
  const left: string[] = [];
  try {
    await until(() => processesOf(home).length === 0, "no process is left", undefined, timeoutMs);
  } catch {
    left.push(...endProcessesOf(home).map(({ identity, command }) => `process ${identity.pid} ${command}`));
  }
  left.push(...socketsOf(home).map((file) => `socket ${file}`));
  left.push(...listFiles(tmp).map((file) => `temporary file ${file}`));
  if (left.length > 0) throw new Error(`left behind:\n${left.join("\n")}`);
}

/** Kills the processes that have `TROUPE_HOME=home` in their environment, and gives them. */
export function endProcessesOf(home: string): readonly Found[] {
  const found = processesOf(home);
  for (const { identity } of found) if (liveness(identity) === "alive") process.kill(identity.pid, "SIGKILL");
  return found;
}

/** The processes that have `TROUPE_HOME=home` in their environment. */
export function processesOf(home: string): readonly Found[] {
  const mark = `TROUPE_HOME=${home}\0`;
  return fs
    .readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const identity = identityOf(Number(pid));
      if (identity === undefined || !`\0${readOrEmpty(pid, "environ")}`.includes(`\0${mark}`)) return [];
      return [{ identity, command: readOrEmpty(pid, "cmdline").replaceAll("\0", " ").trim() }];
    });
}

function readOrEmpty(pid: string, file: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    // It has ended meanwhile, or belongs to somebody else.
    return "";
  }
}

/** Sockets, and the directories made for those whose path would be too long under `home`. */
function socketsOf(home: string): string[] {
  const short = listFiles(path.join(home, "teams"), false)
    .map((dir) => teamPaths(home, path.basename(dir)).sockets)
    .filter((dir) => !dir.startsWith(home) && fs.existsSync(dir));
  const inside = listFiles(home).filter((file) => fs.lstatSync(file, { throwIfNoEntry: false })?.isSocket());
  return [...inside, ...short];
}

function listFiles(dir: string, recursive = true): string[] {
  if (!fs.existsSync(dir)) return [];
  return fs.readdirSync(dir, { recursive }).map((name) => path.join(dir, String(name)));
}
