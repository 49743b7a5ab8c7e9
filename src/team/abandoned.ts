import fs from "node:fs";
import { endTree } from "../../backends/index.js";
import type { TeammateExecutor } from "../../backends/types.js";
import { TroupeError } from "../util/errors.js";
import { acquireLock, isHeld, type Lock, readLock } from "../util/lock.js";
import { sameProcess } from "../util/process-identity.js";
import { defaults } from "./defaults.js";
import type { EndReport } from "./host/protocol.js";
import { keepProcesses, keptOf, treeOfMember } from "./kept.js";
import { killKeeping } from "./kill-keeping.js";
import { filesOf, findStrays, treesOf } from "./leftovers.js";
import type { LocatedTeam } from "./locate.js";
import { openMemberExecutor } from "./open-executors.js";
import type { TeamPaths } from "./paths.js";
import { type MemberRecord, memberFile, readHostRecord, readMembers, writeRecord } from "./records.js";
import { removeSockets } from "./remove-sockets.js";
import { allOf } from "./steps.js";
import { endOnServers } from "./tmux-remains.js";

/**
 * Ends what a dead host left: every member of its team, or only those in `names`, by process identity, run id and tagged
 * pane; without `names` also whatever else {@link findLeftovers} tells of. What cannot be ended keeps nothing
 * else from it, and is thrown at the end. Holds the team's lock meanwhile. Processes in `keep` are left alone, see
 * {@link keepProcesses}. Throws TroupeError `team-runs` if a host holds it.
 */
export async function endAbandoned(
  team: LocatedTeam,
  options: {
    readonly names?: readonly string[];
    readonly keep?: readonly number[];
    readonly env: Readonly<Record<string, string | undefined>>;
  },
): Promise<readonly EndReport[]> {
  const { paths } = team;
  const lock = await takeOver(paths);
  try {
    if (options.names?.includes("user"))
      throw new TroupeError("not-a-teammate", "user is you; there is nothing to stop", { kind: "usage" });
    const members = readMembers(paths).filter(
      ({ kind, name }) => kind !== "user" && (options.names === undefined || options.names.includes(name)),
    );
    await keepProcesses(paths, members, options.keep ?? []);
    const ends = await Promise.allSettled(members.map((member) => endOne(team, member)));
    const told = () => ends.map(reportOf);
    if (options.names !== undefined) {
      await Promise.all(members.map((member) => closePane(team, member, options.env)));
      return told();
    }
    await allOf([
      () => endStrays(paths),
      () => allOf(filesOf(paths).map((file) => () => fs.rmSync(file, { recursive: true, force: true }))),
      told,
      () => closeRecord(paths),
      async () => {
        await endOnServers(team, options.env).catch((error: unknown) => {
          throw panesLeft(team, error);
        });
        removeSockets(paths);
      },
    ]);
    return told();
  } finally {
    lock.release();
  }
}

/** A server that does not answer keeps the team's panes, but no process of ours. */
function panesLeft({ paths, record }: LocatedTeam, error: unknown): unknown {
  if (!(error instanceof TroupeError)) return error;
  const again = `troupe down --team ${paths.dirName}`;
  return new TroupeError(
    error.code,
    `${record.name} has been ended, but panes of it may be open still: ${error.message}`,
    {
      kind: error.kind,
      remedy: error.remedy === undefined ? again : `${error.remedy}; then once more: ${again}`,
      cause: error,
    },
  );
}

function reportOf(end: PromiseSettledResult<EndReport>): EndReport {
  if (end.status === "rejected") throw end.reason;
  return end.value;
}

async function closeRecord(paths: TeamPaths): Promise<void> {
  const host = readHostRecord(paths);
  if (host !== undefined && host.endedAt === undefined)
    await writeRecord(paths.hostRecord, { ...host, endedAt: new Date().toISOString() });
}

async function endStrays(paths: TeamPaths): Promise<void> {
  const trees = treesOf(paths, findStrays(paths.home));
  await Promise.all(trees.map((tree) => endTree(tree, { graceMs: defaults.termToKillMs })));
}

/** The team's lock; waits for others who end the same team, but for no host. */
async function takeOver(paths: TeamPaths): Promise<Lock> {
  const held = readLock(paths.lock);
  const host = readHostRecord(paths)?.process;
  const refuse = () => new TroupeError("team-runs", `the team ${paths.dirName} has a host; ask it instead`);
  if (held !== undefined && isHeld(held) && host !== undefined && sameProcess(held.owner, host))
    throw refuse();
  try {
    return await acquireLock(paths.lock, defaults.hostRequestMs);
  } catch (error) {
    // A team that is being started has no host's record yet.
    throw error instanceof TroupeError && error.code === "lock-busy" ? refuse() : error;
  }
}

async function endOne(team: LocatedTeam, member: MemberRecord): Promise<EndReport> {
  const report = await endTree(treeOfMember(team.paths, member), { graceMs: defaults.termToKillMs });
  const { name } = member;
  if (member.state === "ended") return { name, how: "already", report };
  const since = new Date().toISOString();
  const ended = { state: "ended", reason: "lost", detail: "its host was gone", since } as const;
  await writeRecord(memberFile(team.paths, name), { ...member, ...ended });
  return {
    name,
    how: report.found.length === 0 ? "already" : report.forced ? "killed" : "terminated",
    report,
  };
}

/** A terminal server that does not answer keeps the pane, but no process of ours; it is asked again when the team ends. */
async function closePane(
  team: LocatedTeam,
  member: MemberRecord,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  if (member.ref?.pane === undefined) return;
  let executor: TeammateExecutor | undefined;
  try {
    executor = await openMemberExecutor(team, member, env);
    await killKeeping(executor, member.agentId, keptOf(team.paths, member));
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error;
  } finally {
    await executor?.close?.().catch(() => undefined);
  }
}
