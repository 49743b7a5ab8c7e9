import fs from "node:fs";
import path from "node:path";
import { runIdOf } from "../../backends/environment.js";
import { commandOf, findMarked, readTable } from "../../backends/process-table.js";
import { findTree, type ProcessTree } from "../../backends/process-tree.js";
import { listIfExists } from "../util/fs.js";
import { liveness } from "../util/process-identity.js";
import { readKept } from "./kept.js";
import type { LocatedTeam } from "./locate.js";
import { memberRunDir, type TeamPaths } from "./paths.js";
import { readHostRecord, readMembers } from "./records.js";
import { findOnServers } from "./tmux-remains.js";

/** One thing that is there although nobody needs it any more. */
export interface Leftover {
  /** The team's directory name; empty for what belongs to none. */
  readonly team: string;
  readonly kind: "process" | "pane" | "server" | "socket" | "file" | "lock" | "record" | "team";
  /** What it is, so that two looks name the same thing alike: a pid and command, a path, a pane. May be hostile text. */
  readonly what: string;
  /** It is told, and not ended: a person uses it. */
  readonly kept?: true;
}

/** A process that carries the marks of a teammate of this home. */
export interface Stray {
  readonly dirName: string;
  readonly runId: string;
}

/** The run ids of teammates' processes that run now, by the marks in their environments. One look at the process table. */
export function findStrays(home: string): Stray[] {
  const marks = findMarked({ TROUPE_HOME: home, TROUPE_TEAM: undefined });
  const strays = new Map<string, Stray>();
  for (const { runId, variables } of marks) {
    const dirName = variables["TROUPE_TEAM"] ?? "";
    strays.set(`${dirName} ${runId}`, { dirName, runId });
  }
  return [...strays.values()];
}

/**
 * What is left of a team that no host runs: processes of its teammates by identity and run id, tagged panes, its own tmux
 * server, sockets, files that a start or a write broken off left behind, a record of a host that died. Changes nothing.
 * `skip` is told of servers that cannot be looked into.
 */
export async function findLeftovers(
  team: LocatedTeam,
  strays: readonly Stray[],
  env: Readonly<Record<string, string | undefined>>,
  skip: (error: unknown) => void,
): Promise<Leftover[]> {
  const { paths } = team;
  const found = (kind: Leftover["kind"], what: string): Leftover => ({ team: paths.dirName, kind, what });
  const host = readHostRecord(paths);
  const died = host !== undefined && host.endedAt === undefined;
  return [
    ...processesOf(treesOf(paths, strays)).map((what) => found("process", what)),
    ...(await findOnServers(team, env, skip)).map((item) => ({ team: paths.dirName, ...item })),
    ...socketsOf(paths).map((file) => found("socket", file)),
    ...filesOf(paths).map((file) => found("file", file)),
    ...(died ? [found("record", `its host (process ${host.process.pid}) died without ending it`)] : []),
  ];
}

/**
 * The trees of a team that may still run: of members whose process lives, and of every run id that was seen. They keep what a
 * person keeps.
 */
export function treesOf(paths: TeamPaths, strays: readonly Stray[]): ProcessTree[] {
  const trees = new Map<string, ProcessTree>();
  const keep = readKept(paths.home);
  for (const { dirName, runId } of strays) if (dirName === paths.dirName) trees.set(runId, { runId, keep });
  for (const { incarnation, ref } of readMembers(paths)) {
    const runId = runIdOf(memberRunDir(paths, incarnation));
    const root = ref?.process;
    if (root !== undefined && liveness(root) !== "gone") trees.set(runId, { runId, root, keep });
  }
  return [...trees.values()];
}

/** The processes of some trees, each once, as `pid command`. */
export function processesOf(trees: readonly ProcessTree[]): string[] {
  const table = readTable();
  const pids = new Set(trees.flatMap((tree) => findTree(tree, [], table)).map(({ pid }) => pid));
  return Array.from(pids, (pid) => `${pid} ${commandOf(pid)}`);
}

function socketsOf({ socket, sockets, run }: TeamPaths): string[] {
  const isThere = (file: string): boolean => fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  return [socket, ...(sockets === run ? [] : [sockets])].filter(isThere);
}

/** How old a draft of mail has to be before its writer counts as dead, in milliseconds. */
const draftMs = 3_600_000;

/** Launch scripts, which hold secrets; new versions of records, and mail, that were never finished. */
export function filesOf(paths: TeamPaths): string[] {
  const runDirs = listDirs(paths.run);
  const halves = [paths.root, paths.run, paths.members, ...runDirs]
    .flatMap((dir) => listIfExists(dir).map((name) => path.join(dir, name)))
    .filter((file) => /^\..+\.\d+\.\d+\.tmp$/.test(path.basename(file)));
  const scripts = runDirs.map((dir) => path.join(dir, "launch.sh")).filter((file) => fs.existsSync(file));
  const drafts = listDirs(paths.mail)
    .flatMap((dir) => listIfExists(path.join(dir, "tmp")).map((name) => path.join(dir, "tmp", name)))
    .filter((file) => Date.now() - (fs.lstatSync(file, { throwIfNoEntry: false })?.ctimeMs ?? 0) > draftMs);
  return [...scripts, ...halves, ...drafts];
}

function listDirs(parent: string): string[] {
  return listIfExists(parent)
    .map((name) => path.join(parent, name))
    .filter((dir) => fs.lstatSync(dir, { throwIfNoEntry: false })?.isDirectory());
}
