import { errnoOf } from "../src/util/errors.js";
import { identityOf, liveness, type ProcessIdentity, selfIdentity } from "../src/util/process-identity.js";
import { delay } from "../src/util/wait.js";
import { carriesRunId, commandOf, listProcesses, type ProcessRow } from "./process-table.js";
import type { KillReport, ProcessNote } from "./types.js";

/** How a teammate's processes are told from all others. */
export interface ProcessTree {
  /** The process at the root. If it or its parent leads a session, that belongs to it. Absent for an embedded agent. */
  readonly root?: ProcessIdentity;
  /** The run id that its descendants carry in their environment. Looked for on Linux only. */
  readonly runId?: string;
}

/** One process of a tree. */
export interface TreeMember extends ProcessNote {
  readonly identity: ProcessIdentity;
  readonly pgid: number;
}

/**
 * The processes of a tree that run now: the root, all its descendants, its session, and whatever carries its run id, with the descendants of those, so that a child that went into a session of its own or was given to init is
 * found. `known` members of an earlier look count as roots, too. Never this process or one of its ancestors.
 */
export function findTree(tree: ProcessTree, known: Iterable<TreeMember> = []): TreeMember[] {
  const rows = listProcesses();
  const byPid = new Map(rows.map((row) => [row.pid, row]));
  const spared = ancestry(byPid);
  const pids = new Set<number>();
  for (const identity of [tree.root, ...Array.from(known, (member) => member.identity)])
    if (identity !== undefined && liveness(identity) === "alive") pids.add(identity.pid);
  const session = tree.root === undefined ? undefined : sessionOf(tree.root, byPid, tree.runId !== undefined);
  for (const { pid, sid } of rows) {
    if (session !== undefined && sid === session) pids.add(pid);
    if (tree.runId !== undefined && !spared.has(pid) && carriesRunId(pid, tree.runId)) pids.add(pid);
  }
  for (const pid of spared) pids.delete(pid);
  const children = groupByParent(rows);
  for (const pid of pids)
    for (const child of children.get(pid) ?? []) if (!spared.has(child.pid)) pids.add(child.pid);
  return Array.from(pids, (pid) => memberOf(pid, byPid)).filter((member) => member !== undefined);
}

/** Sends a signal to every process of the tree, each once; true if there was one. Waits for nothing. */
export function signalTree(tree: ProcessTree, signal: "SIGTERM" | "SIGINT"): boolean {
  const members = findTree(tree);
  for (const member of members) send(member, signal);
  return members.length > 0;
}

/**
 * Ends a tree and proves it: TERM to every process, `graceMs` to end by itself, then KILL to groups and stragglers,
 * looked for again until nothing is left or five seconds have passed. Processes are signalled by pid and start time
 * only. Aborting `signal` cuts the grace short; it does not stop the ending.
 */
export async function endTree(
  tree: ProcessTree,
  options: { readonly graceMs: number; readonly signal?: AbortSignal },
): Promise<KillReport> {
  const found = new Map<string, TreeMember>();
  const look = (): TreeMember[] => {
    for (const member of findTree(tree, found.values())) found.set(keyOf(member), member);
    return running(found.values());
  };
  let left = look();
  for (const member of left) send(member, "SIGTERM");
  await gone(left, options.graceMs, options.signal);

  const deadline = Date.now() + killMs;
  left = look();
  const forced = left.length > 0;
  for (let round = 0; left.length > 0 && Date.now() < deadline; round++) {
    // The root may be a launch script that is about to record how its program ended: it goes last.
    const first = left.filter((member) => member.pid !== tree.root?.pid);
    for (const member of round === 0 && first.length > 0 ? first : left) killMember(member);
    await gone(left, Math.min(20 * 2 ** round, 500));
    left = look();
  }
  const survivors = left.map(noteOf);
  const ended = Array.from(found.values()).filter((member) => !left.includes(member));
  return {
    found: Array.from(found.values(), noteOf),
    ended: ended.map(noteOf),
    survivors,
    ...(forced ? { forced } : {}),
  };
}

const killMs = 5000;

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

function ancestry(byPid: ReadonlyMap<number, ProcessRow>): ReadonlySet<number> {
  const pids = new Set<number>([0, 1]);
  for (
    let pid: number | undefined = process.pid;
    pid !== undefined && !pids.has(pid);
    pid = byPid.get(pid)?.ppid
  )
    pids.add(pid);
  return pids;
}

function groupByParent(rows: readonly ProcessRow[]): Map<number, ProcessRow[]> {
  const children = new Map<number, ProcessRow[]>();
  for (const row of rows) children.set(row.ppid, [...(children.get(row.ppid) ?? []), row]);
  return children;
}

function memberOf(pid: number, byPid: ReadonlyMap<number, ProcessRow>): TreeMember | undefined {
  const identity = identityOf(pid);
  const row = byPid.get(pid);
  if (identity === undefined || row === undefined) return undefined;
  return { pid, command: commandOf(pid), identity, pgid: row.pgid };
}

function killMember(member: TreeMember): void {
  // A group is signalled as a whole only through its leader, which is known to be ours and alive.
  if (member.pgid === member.pid && liveness(member.identity) === "alive") sendTo(-member.pid, "SIGKILL");
  send(member, "SIGKILL");
}

function send(member: TreeMember, signal: NodeJS.Signals): void {
  if (liveness(member.identity) !== "alive") return;
  sendTo(member.pid, signal);
  // A stopped process hears of a TERM only once it runs again.
  if (signal !== "SIGKILL") sendTo(member.pid, "SIGCONT");
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
  const deadline = Date.now() + ms;
  for (let pause = 2; Date.now() < deadline && !signal?.aborted; pause = Math.min(pause * 2, 25)) {
    if (running(members).length === 0) return;
    await delay(Math.min(pause, Math.max(1, deadline - Date.now())), signal).catch((error: unknown) => {
      if (!signal?.aborted) throw error;
    });
  }
}

function running(members: Iterable<TreeMember>): TreeMember[] {
  return Array.from(members).filter((member) => liveness(member.identity) === "alive");
}

function keyOf(member: TreeMember): string {
  return `${member.pid} ${member.identity.startTime}`;
}

function noteOf(member: TreeMember): ProcessNote {
  return { pid: member.pid, command: member.command };
}
