import { createHash } from "node:crypto";
import path from "node:path";
import { fileNameOf } from "../util/name-key.js";

/** Where one team keeps its files; all absolute. Nothing here looks at the disk. */
export interface TeamPaths {
  /** Name of the team's directory below `teams/`. */
  readonly dirName: string;
  readonly home: string;
  readonly root: string;
  readonly teamRecord: string;
  readonly members: string;
  readonly mail: string;
  readonly requests: string;
  readonly tasks: string;
  readonly scratch: string;
  readonly events: string;
  readonly run: string;
  readonly socket: string;
  /** Where sockets are: `run`, or a directory with a short path where TROUPE_HOME is long. */
  readonly sockets: string;
  readonly hostRecord: string;
  readonly hostLog: string;
  readonly lock: string;
  /** Holds the `troupe` that teammates find first in PATH. */
  readonly bin: string;
}

/** `TROUPE_HOME`, by default `~/.troupe`, absolute. */
export function troupeHome(env: Readonly<Record<string, string | undefined>>): string {
  if (env["TROUPE_HOME"]) return path.resolve(env["TROUPE_HOME"]);
  // Loading node:os is a hundredth of a short command's start, and HOME is nearly always set.
  return path.resolve(env["HOME"] || process.getBuiltinModule("node:os").homedir(), ".troupe");
}

/** Directory name of the team `name` of a project: the same name in another project is another team. */
export function teamDirName(name: string, projectRoot: string): string {
  return `${fileNameOf(name)}-${createHash("sha256").update(projectRoot).digest("hex").slice(0, 6)}`;
}

export function teamPaths(home: string, dirName: string): TeamPaths {
  const root = path.join(home, "teams", dirName);
  const run = path.join(root, "run");
  const sockets = shortDir(run);
  return {
    dirName,
    home,
    root,
    teamRecord: path.join(root, "team.json"),
    members: path.join(root, "members"),
    mail: path.join(root, "mail"),
    requests: path.join(root, "requests"),
    tasks: path.join(root, "tasks"),
    scratch: path.join(root, "scratch"),
    events: path.join(root, "events.ndjson"),
    run,
    socket: path.join(sockets, "host.sock"),
    sockets,
    hostRecord: path.join(run, "host.json"),
    hostLog: path.join(run, "host.log"),
    lock: path.join(run, "lock"),
    bin: path.join(run, "bin"),
  };
}

/** The run directory of one incarnation of a member. */
export function memberRunDir(paths: TeamPaths, incarnation: string): string {
  return path.join(paths.run, incarnation);
}

/** Longest path that fits sun_path with its terminating NUL: 107 bytes on Linux, 103 elsewhere. */
export const maxSocketPath = process.platform === "linux" ? 107 : 103;

/** The longest name of a socket in one of our run directories. */
const longestSocketName = "tmux.sock";

/**
 * `wanted`, or where a socket's path in it would be too long, a directory of this user below /tmp that is named after a
 * hash of `wanted`: the same for every process that asks.
 */
function shortDir(wanted: string): string {
  if (Buffer.byteLength(path.join(wanted, longestSocketName)) <= maxSocketPath) return wanted;
  const hash = createHash("sha256").update(wanted).digest("hex").slice(0, 16);
  return path.join("/tmp", `troupe-${process.getuid?.() ?? 0}`, hash);
}
