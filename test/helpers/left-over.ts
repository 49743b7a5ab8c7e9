import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { teamPaths } from "../../src/team/paths.js";
import { identityOf, liveness, type ProcessIdentity } from "../../src/util/process-identity.js";
import { tmuxProgram } from "./tmux.js";
import { until } from "./until.js";

interface Found {
  readonly identity: ProcessIdentity;
  readonly command: string;
}

/** What a test may leave something in. */
export interface Ground {
  /** Everything that belongs to the test is below it, or names it in its environment, arguments or directory. */
  readonly root: string;
  /** A TROUPE_HOME. */
  readonly home: string;
  /** The TMPDIR of the programs that the test starts. */
  readonly tmp: string;
  /** Where the test makes its own temporary directories, and what was there before. */
  readonly scratch: string;
  readonly before: ReadonlySet<string>;
}

/** What `bundleScript` keeps for the whole test process. */
const bundles = "troupe-bundle-";

/**
 * Throws, naming each, if a test has left anything: processes (tmux servers among them), panes of teammates on any tmux server
 * in `root` or `scratch`, sockets, launch scripts, drafts, temporary files and directories. Processes and panes get `timeoutMs`
 * to be gone; processes that stay are killed, so that the next test starts clean.
 */
export async function expectNothingLeft(ground: Ground, timeoutMs = 10_000): Promise<void> {
  const { root, home, tmp, scratch, before } = ground;
  const left: string[] = [];
  try {
    const isClear = async () =>
      processesNaming(root).length === 0 && (await panesIn(root, scratch)).length === 0;
    await until(isClear, "no process and no pane is left", undefined, timeoutMs);
  } catch {
    left.push(...(await panesIn(root, scratch)));
    left.push(
      ...endProcessesNaming(root).map(({ identity, command }) => `process ${identity.pid}: ${command}`),
    );
  }
  left.push(...socketsIn(root, home).map((file) => `socket: ${file}`));
  left.push(
    ...listFiles(home)
      .filter(isUnfinished)
      .map((file) => `unfinished file: ${file}`),
  );
  left.push(...listFiles(tmp).map((file) => `temporary file: ${file}`));
  const isMade = (file: string): boolean =>
    file !== root && !before.has(file) && !path.basename(file).startsWith(bundles);
  const made = listFiles(scratch, false).filter(isMade);
  left.push(...made.map((file) => `temporary directory of the test: ${file}`));
  if (left.length > 0) throw new Error(`the test has left behind:\n${left.join("\n")}`);
}

/** Kills the processes that name `root`, and gives them. */
export function endProcessesNaming(root: string): readonly Found[] {
  const found = processesNaming(root);
  for (const { identity } of found) if (liveness(identity) === "alive") process.kill(identity.pid, "SIGKILL");
  return found;
}

/** The processes that have a path at or below `root` in their environment or arguments, or as their directory. */
function processesNaming(root: string): readonly Found[] {
  return processesWhere(
    (pid) =>
      [readOrEmpty(pid, "environ"), readOrEmpty(pid, "cmdline")].some((text) => text.includes(root)) ||
      linkOrEmpty(pid, "cwd").startsWith(root),
  );
}

/** The processes that have `TROUPE_HOME=home` in their environment. */
export function processesOf(home: string): readonly Found[] {
  const mark = `\0TROUPE_HOME=${home}\0`;
  return processesWhere((pid) => `\0${readOrEmpty(pid, "environ")}`.includes(mark));
}

function processesWhere(isMeant: (pid: string) => boolean): readonly Found[] {
  return fs
    .readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      const identity = identityOf(Number(pid));
      if (identity === undefined || !isMeant(pid)) return [];
      return [{ identity, command: readOrEmpty(pid, "cmdline").replaceAll("\0", " ").trim() }];
    });
}

function linkOrEmpty(pid: string, name: string): string {
  try {
    return fs.readlinkSync(`/proc/${pid}/${name}`);
  } catch {
    // As below.
    return "";
  }
}

function readOrEmpty(pid: string, file: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    // It has ended meanwhile, or belongs to somebody else.
    return "";
  }
}

/** Whose a pane is, if a team's; its id; its teammate. */
const paneFormat = "#{@troupe_owner} #{pane_id} #{@troupe_agent}";

/** The panes that are a team's on any tmux server whose socket is in one of the directories. */
async function panesIn(...dirs: readonly string[]): Promise<string[]> {
  const sockets = new Set(dirs.flatMap((dir) => listFiles(dir)).filter(isSocket));
  const panes = await Promise.all(
    Array.from(sockets, async (socket) => {
      const rows = await linesOf(socket, "list-panes", "-a", "-F", paneFormat);
      return rows
        .filter((row) => row !== "" && !row.startsWith(" "))
        .map((row) => `pane on ${socket}: ${row.slice(row.indexOf(" ") + 1).trim()}`);
    }),
  );
  return panes.flat();
}

/** What tmux prints about the server on a socket; nothing where no server of tmux listens. */
async function linesOf(socket: string, ...command: readonly string[]): Promise<string[]> {
  try {
    const { stdout } = await promisify(execFile)(tmuxProgram, ["-S", socket, ...command], {
      timeout: 10_000,
    });
    return stdout.split("\n");
  } catch {
    return [];
  }
}

/** Sockets, and the directories made for those whose path would be too long under `home`. */
function socketsIn(root: string, home: string): string[] {
  const short = listFiles(path.join(home, "teams"), false)
    .map((dir) => teamPaths(home, path.basename(dir)).sockets)
    .filter((dir) => !dir.startsWith(home) && fs.existsSync(dir));
  return [...listFiles(root).filter(isSocket), ...short];
}

function isSocket(file: string): boolean {
  return fs.lstatSync(file, { throwIfNoEntry: false })?.isSocket() ?? false;
}

/** A launch script, which holds secrets; a draft of a record, of mail or of a lock. */
function isUnfinished(file: string): boolean {
  const [name, parent] = [path.basename(file), path.basename(path.dirname(file))];
  return name === "launch.sh" || /^\..+\.tmp$|^\.draft-/.test(name) || parent === "tmp";
}

function listFiles(dir: string, recursive = true): string[] {
  if (!fs.existsSync(dir)) return [];
  return fs.readdirSync(dir, { recursive }).map((name) => path.join(dir, String(name)));
}
