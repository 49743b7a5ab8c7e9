import { errnoOf } from "../src/util/errors.js";
import { liveness, type ProcessIdentity, sameProcess, selfIdentity } from "../src/util/process-identity.js";
import { delay } from "../src/util/wait.js";
import { hearsHangup } from "./hangup.js";
import {
  commandOf,
  identityOfRow,
  nextTable,
  type ProcessRow,
  type ProcessTable,
  readTable,
} from "./process-table.js";
import type { KillReport, ProcessNote } from "./types.js";

/** How a teammate's processes are told from all others. */
export interface ProcessTree {
  /** The process at the root. If it or its parent leads a session, that belongs to it. Absent for an embedded agent. */
  readonly root?: ProcessIdentity;
  /** The run id that its descendants carry in their environment. Looked for on Linux only. */
  readonly runId?: string;
  /** Processes that are left alone, with their descendants, sessions and groups; see {@link findKept}. Never the root. */
  readonly keep?: readonly ProcessIdentity[];
}

/** One process of a tree. */
export interface TreeMember extends ProcessNote {
  readonly identity: ProcessIdentity;
  /** It is the root or an ancestor of it. */
  readonly holdsRoot: boolean;
  /** It leads a process group of nothing but members of the tree, the root among them only if it holds that. */
  readonly leads: boolean;
}

/**
 * The processes of a tree that run now: the root, all its descendants, its session, and whatever carries its run id, with
 * the descendants and the groups of those, so that a child that went into a session of its own or was given to init is
 * found. `known` members of an earlier look count as roots, too. Never this process or one of its ancestors, nor what the
 * tree keeps. What cleared its environment, left its session and its group and outlived its parents before the first look is
 * not found.
 */
export function findTree(
  tree: ProcessTree,
  known: Iterable<TreeMember> = [],
  table: ProcessTable = readTable(),
): TreeMember[] {
  return lookAt(tree, known, table).members;
}

/** The processes that would be found, were they not kept. */
export function findKept(tree: ProcessTree, table: ProcessTable = readTable()): TreeMember[] {
  return lookAt(tree, [], table).kept;
}

function lookAt(
  tree: ProcessTree,
  known: Iterable<TreeMember>,
  table: ProcessTable,
): { readonly members: TreeMember[]; readonly kept: TreeMember[] } {
  const { rows } = table;
  const byPid = new Map(rows.map((row) => [row.pid, row]));
  const spared = ancestry(byPid);
  const pids = new Set<number>();
  for (const identity of [tree.root, ...Array.from(known, (member) => member.identity)])
    if (identity !== undefined && liveness(identity) === "alive") pids.add(identity.pid);
  const session = tree.root === undefined ? undefined : sessionOf(tree.root, byPid, tree.runId !== undefined);
  for (const { pid, sid } of rows) {
    if (session !== undefined && sid === session) pids.add(pid);
    if (tree.runId !== undefined && !spared.has(pid) && table.carriesRunId(pid, tree.runId)) pids.add(pid);
  }
  for (const pid of spared) pids.delete(pid);
  const children = groupBy(rows, (row) => row.ppid);
  const groups = groupBy(rows, (row) => row.pgid);
  for (const pid of pids)
    for (const row of [...(children.get(pid) ?? []), ...(groups.get(pid) ?? [])])
      if (!spared.has(row.pid)) pids.add(row.pid);
  const apart = tree.keep === undefined ? new Set<number>() : keptPids(tree.keep, rows);
  const kept = Array.from(pids).filter((pid) => apart.has(pid));
  for (const pid of kept) pids.delete(pid);
  const line = lineOf(tree.root?.pid, byPid);
  const memberOf = (pid: number): TreeMember | [] => {
    const row = byPid.get(pid);
    const identity = row && identityOfRow(row);
    const holdsRoot = line.has(pid);
    const isOurs = (row: ProcessRow) => pids.has(row.pid) && (holdsRoot || !line.has(row.pid));
    const leads = groups.get(pid)?.every(isOurs) ?? false;
    return identity === undefined ? [] : { pid, command: commandOf(pid), identity, holdsRoot, leads };
  };
  return { members: Array.from(pids).flatMap(memberOf), kept: kept.flatMap(memberOf) };
}

/** What is kept, its descendants, and the sessions and groups that it leads. */
function keptPids(keep: readonly ProcessIdentity[], rows: readonly ProcessRow[]): ReadonlySet<number> {
  const pids = new Set(keep.filter((identity) => liveness(identity) === "alive").map(({ pid }) => pid));
  const isWith = ({ ppid, pgid, sid }: ProcessRow): boolean =>
    pids.has(ppid) || pids.has(pgid) || (sid !== undefined && pids.has(sid));
  for (let size = -1; size !== pids.size; ) {
    size = pids.size;
    for (const row of rows) if (isWith(row)) pids.add(row.pid);
  }
  return pids;
}

/** Sends a signal to every process of the tree, each once; true if there was one. Waits for nothing. */
export function signalTree(tree: ProcessTree, signal: "SIGTERM" | "SIGINT"): boolean {
  const members = findTree(tree);
  for (const member of members) send(member, signal);
  return members.length > 0;
}

/**
 * Ends a tree and proves it: TERM to every process, also to those that are born meanwhile, and `graceMs` to end by
 * themselves; then all that are left are stopped, so that none can start another, and killed, looked for again until
 * nothing is left or five seconds have passed. A process is signalled only after a look that it is still the one meant, by
 * pid and start time. Aborting `signal` cuts the grace short; it does not stop the ending. What the tree keeps is told, and
 * what it was to keep and is gone in the end: the end of a terminal's first process hangs up on all in its foreground.
 * Idempotent.
 */
export async function endTree(
  tree: ProcessTree,
  options: { readonly graceMs: number; readonly signal?: AbortSignal },
): Promise<KillReport> {
  const found = new Map<string, TreeMember>();
  const spared = new Map<string, TreeMember>();
  const exposed: TreeMember[] = [];
  const look = (table: ProcessTable): TreeMember[] => {
    // What was kept once stays so, though what it descends from may end.
    const keep = [...(tree.keep ?? []), ...Array.from(spared.values(), ({ identity }) => identity)];
    const { members, kept } = lookAt({ ...tree, keep }, found.values(), table);
    for (const member of members) found.set(keyOf(member), member);
    for (const member of kept) {
      if (!spared.has(keyOf(member)) && hearsHangup(member.pid)) exposed.push(member);
      spared.set(keyOf(member), member);
    }
    return running(found.values());
  };
  let left = await askToEnd(look, options.graceMs, options.signal);
  const forced = left.length > 0;
  const deadline = performance.now() + killMs;
  for (let round = 0; left.length > 0 && performance.now() < deadline; round++) {
    // The root may be a launch script that is about to record how its program ended: it goes last.
    const rootWaits = round === 0 && left.some((member) => !member.holdsRoot);
    killAll(() => look(readTable()).filter((member) => !(rootWaits && member.holdsRoot)));
    await gone(left, Math.min(200 * 2 ** round, 1000));
    left = look(await nextTable());
  }
  // Whom the hangup has reached is about to end.
  await gone(exposed, hangupMs);
  const isNamed = ({ identity }: TreeMember) => tree.keep?.some((one) => sameProcess(one, identity));
  const lost = Array.from(spared.values()).filter(
    (member) => isNamed(member) && liveness(member.identity) === "gone",
  );
  const ended = Array.from(found.values()).filter((member) => !left.includes(member));
  const outOfReach =
    tree.root !== undefined && liveness(tree.root) === "unknown" ? [elsewhere(tree.root)] : [];
  return {
    found: [...Array.from(found.values(), noteOf), ...outOfReach],
    ended: ended.map(noteOf),
    survivors: [...left.map(noteOf), ...outOfReach],
    ...(forced ? { forced } : {}),
    ...(spared.size === 0 ? {} : { kept: running(spared.values()).map(noteOf) }),
    ...(lost.length === 0 ? {} : { lost: lost.map(noteOf) }),
  };
}

/** Kills what there is of some trees at once, without asking, waiting or proof: for a process that is exiting. */
export function killTreesNow(trees: readonly ProcessTree[]): void {
  for (const tree of trees) killAll(() => findTree(tree));
}

const killMs = 5000;

/** How long it is waited for the end of what heard of a hangup; what goes on is kept after all. */
const hangupMs = 1000;

/** How often a stopped tree is looked at for what was just being born. */
const freezeLooks = 10;

/** TERM to all, and to those that turn up while the grace lasts; gives who is left. */
async function askToEnd(
  look: (table: ProcessTable) => TreeMember[],
  graceMs: number,
  signal: AbortSignal | undefined,
): Promise<TreeMember[]> {
  const deadline = performance.now() + graceMs;
  const asked = new Set<string>();
  for (let pause = 250; ; pause = Math.min(pause * 2, 1000)) {
    const left = look(await nextTable());
    for (const member of left) if (!asked.has(keyOf(member))) send(member, "SIGTERM");
    for (const member of left) asked.add(keyOf(member));
    const rest = deadline - performance.now();
    if (left.length === 0 || rest <= 0 || signal?.aborted) return left;
    await gone(left, Math.min(pause, rest), signal);
  }
}

/** Stops all, until a look finds nobody who was not, then kills them. */
function killAll(look: () => TreeMember[]): void {
  const stopped = new Map<string, TreeMember>();
  for (let pass = 0; pass < freezeLooks; pass++) {
    const fresh = look().filter((member) => !stopped.has(keyOf(member)));
    if (fresh.length === 0) break;
    for (const member of fresh) {
      stopped.set(keyOf(member), member);
      signalWithGroup(member, "SIGSTOP");
    }
  }
  for (const member of stopped.values()) signalWithGroup(member, "SIGKILL");
}

/** The session that is the root's alone, by its id. */
function sessionOf(
  root: ProcessIdentity,
  byPid: ReadonlyMap<number, ProcessRow>,
  hasRunId: boolean,
): number | undefined {
  const row = byPid.get(root.pid);
  // Once its leader is gone, the number of a session may be somebody else's: after a reboot, or when pids have gone round.
  if (row === undefined) return hasRunId || !isHere(root) ? undefined : root.pid;
  if (liveness(root) !== "alive" || row.sid === byPid.get(process.pid)?.sid) return undefined;
  return row.sid === row.pid || row.sid === row.ppid ? row.sid : undefined;
}

function isHere(identity: ProcessIdentity): boolean {
  const { bootId, pidNamespace } = selfIdentity();
  return identity.bootId === bootId && identity.pidNamespace === pidNamespace;
}

/** This process and its ancestors. */
function ancestry(byPid: ReadonlyMap<number, ProcessRow>): ReadonlySet<number> {
  return new Set([0, 1, ...lineOf(process.pid, byPid)]);
}

/** A process and its ancestors. */
function lineOf(pid: number | undefined, byPid: ReadonlyMap<number, ProcessRow>): ReadonlySet<number> {
  const line = new Set<number>();
  for (let next = pid; next !== undefined && !line.has(next); next = byPid.get(next)?.ppid) line.add(next);
  return line;
}

function groupBy(
  rows: readonly ProcessRow[],
  keyOfRow: (row: ProcessRow) => number,
): ReadonlyMap<number, readonly ProcessRow[]> {
  const groups = new Map<number, ProcessRow[]>();
  for (const row of rows) {
    const group = groups.get(keyOfRow(row));
    if (group === undefined) groups.set(keyOfRow(row), [row]);
    else group.push(row);
  }
  return groups;
}

/** Asks a process to end. A stopped one hears of it only once it runs again. */
function send(member: TreeMember, signal: "SIGTERM" | "SIGINT"): void {
  if (liveness(member.identity) !== "alive") return;
  sendTo(member.pid, signal);
  sendTo(member.pid, "SIGCONT");
}

/** A group is signalled through its leader, which is known to be ours and alive: that reaches who was just being born. */
function signalWithGroup(member: TreeMember, signal: "SIGSTOP" | "SIGKILL"): void {
  if (liveness(member.identity) === "alive") sendTo(member.leads ? -member.pid : member.pid, signal);
}

function sendTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // Gone meanwhile, or another user's: the verification tells which.
    if (!["ESRCH", "EPERM"].includes(errnoOf(error) ?? "")) throw error;
  }
}

/** Waits until none of the members runs, at most `ms`, or until the signal is aborted. */
async function gone(members: readonly TreeMember[], ms: number, signal?: AbortSignal): Promise<void> {
  const deadline = performance.now() + ms;
  for (let pause = 2; performance.now() < deadline && !signal?.aborted; pause = Math.min(pause * 2, 25)) {
    if (running(members).length === 0) return;
    await delay(Math.min(pause, Math.max(1, deadline - performance.now())), signal).catch(
      (error: unknown) => {
        if (!signal?.aborted) throw error;
      },
    );
  }
}

function running(members: Iterable<TreeMember>): TreeMember[] {
  return Array.from(members).filter((member) => liveness(member.identity) === "alive");
}

function keyOf(member: TreeMember): string {
  return `${member.pid} ${member.identity.startTime}`;
}

function elsewhere({ pid }: ProcessIdentity): ProcessNote {
  return { pid, command: "runs in another container, out of reach from here" };
}

function noteOf(member: TreeMember): ProcessNote {
  return { pid: member.pid, command: member.command };
}
