import fs from "node:fs";
import path from "node:path";
import { runIdOf } from "../../backends/environment.js";
import { hearsHangup } from "../../backends/hangup.js";
import { readTable } from "../../backends/process-table.js";
import { findKept, findTree, type ProcessTree, type TreeMember } from "../../backends/process-tree.js";
import { TroupeError } from "../util/errors.js";
import { ensureDir, listIfExists, readTextIfExists, writeJsonAtomic } from "../util/fs.js";
import { liveness, type ProcessIdentity, sameProcess } from "../util/process-identity.js";
import { memberRunDir, type TeamPaths } from "./paths.js";
import type { MemberRecord } from "./records.js";

/** The processes of a member: its root and whatever carries its run id, but for those that a person keeps. */
export function treeOfMember(paths: TeamPaths, { incarnation, ref }: MemberRecord): ProcessTree {
  const runId = runIdOf(memberRunDir(paths, incarnation));
  const keep = readKept(paths.home);
  return { runId, keep, ...(ref?.process === undefined ? {} : { root: ref.process }) };
}

/** Those of a member's processes that a person keeps by their pid. What these have started is kept with them. */
export function keptOf(paths: TeamPaths, member: MemberRecord): readonly TreeMember[] {
  const tree = treeOfMember(paths, member);
  const { keep = [] } = tree;
  if (keep.length === 0) return [];
  return findKept(tree).filter(({ identity }) => keep.some((one) => sameProcess(one, identity)));
}

/**
 * Keeps processes of some members for good: whatever ends these later, `clean` too, leaves them alone, with what they have
 * started. One that is kept already stays so. Throws TroupeError (kind `usage`) `not-in-team` for another pid that is none of
 * theirs, or is a member itself, and `ends-with-terminal` for one that would not outlive its member's terminal; then none is
 * kept.
 */
export async function keepProcesses(
  paths: TeamPaths,
  members: readonly MemberRecord[],
  pids: readonly number[],
): Promise<void> {
  const before = new Set(pids.length === 0 ? [] : readKept(paths.home).map(({ pid }) => pid));
  const wanted = pids.filter((pid) => !before.has(pid));
  if (wanted.length === 0) return;
  const table = readTable();
  const found = members.flatMap((member) => findTree(treeOfMember(paths, member), [], table));
  const chosen = wanted.map((pid) => {
    const one = found.find((process) => process.pid === pid);
    if (one !== undefined && !one.holdsRoot) {
      if (hearsHangup(pid)) throw endsWithTerminal(one);
      return one.identity;
    }
    const others = found
      .filter((process) => !process.holdsRoot && !hearsHangup(process.pid))
      .map((process) => `${process.pid} (${process.command})`);
    const names = members.map(({ name }) => name).join(", ");
    throw new TroupeError(
      "not-in-team",
      one === undefined
        ? `process ${pid} is none of ${names}'s`
        : `process ${pid} (${one.command}) is what is to be ended`,
      {
        kind: "usage",
        remedy: others.length === 0 ? "there is nothing to keep" : `keep one of: ${others.join(", ")}`,
      },
    );
  });
  await ensureDir(directory(paths.home));
  for (const identity of chosen)
    await writeJsonAtomic(path.join(directory(paths.home), fileNameOf(identity)), { v: 1, ...identity });
}

function endsWithTerminal({ pid, command }: TreeMember): TroupeError {
  return new TroupeError(
    "ends-with-terminal",
    `process ${pid} (${command}) cannot be kept: it runs in the foreground of its terminal, and ends with that`,
    {
      kind: "usage",
      remedy: "have it started anew, behind setsid or nohup: such a process can be kept",
    },
  );
}

/** All processes that a person keeps in this home and that run. The records of others are removed. */
export function readKept(home: string): readonly ProcessIdentity[] {
  return listIfExists(directory(home)).flatMap((name) => {
    const file = path.join(directory(home), name);
    const identity = /^\d+-[\w-]+\.json$/.test(name) ? parse(readTextIfExists(file)) : undefined;
    if (identity !== undefined && liveness(identity) !== "gone") return [identity];
    if (identity !== undefined) fs.rmSync(file, { force: true });
    return [];
  });
}

/** A process by its pid and start, so that a later one with that pid has a file of its own. */
function fileNameOf({ pid, startTime }: ProcessIdentity): string {
  return `${pid}-${startTime.replaceAll(/\W+/g, "-")}.json`;
}

/** The process that a record names; undefined for what is no whole record. */
function parse(text: string | undefined): ProcessIdentity | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "null");
    if (typeof value !== "object" || value === null) return undefined;
    const { v, pid, startTime, bootId, pidNamespace }: Readonly<Record<string, unknown>> = { ...value };
    if (v !== 1 || !Number.isSafeInteger(pid) || typeof pid !== "number" || pid <= 1) return undefined;
    if (typeof startTime !== "string" || typeof bootId !== "string") return undefined;
    return typeof pidNamespace === "string" ? { pid, startTime, bootId, pidNamespace } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function directory(home: string): string {
  return path.join(home, "kept");
}
