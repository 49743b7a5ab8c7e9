import { execFileSync } from "node:child_process";
import { errnoOf, TroupeError } from "../util/errors.js";
import { liveness, readStat } from "../util/process-identity.js";
import { allTeams, type LocatedTeam } from "./locate.js";
import { readHostRecord, readMembers } from "./records.js";

/**
 * Refuses what only a person may do when the command comes from inside of a teammate: one of this process's ancestors is a
 * member's process, or the host that runs agents in itself. Throws TroupeError `from-teammate`. A guard, not a wall: a
 * program that cuts itself off from its ancestors is not seen.
 */
export function refuseFromTeammate(team: LocatedTeam, command: string): void {
  const ancestors = ancestorsOf(process.pid);
  const member = readMembers(team.paths).find(
    ({ process: of }) => of !== undefined && ancestors.has(of.pid) && liveness(of) === "alive",
  );
  const host = readHostRecord(team.paths)?.process;
  const fromHost = host !== undefined && ancestors.has(host.pid) && liveness(host) === "alive";
  if (member === undefined && !fromHost) return;
  const who = member === undefined ? `an agent of ${team.record.name}` : member.name;
  throw new TroupeError("from-teammate", `${command} was called by ${who}: only a person may do that`, {
    remedy: "ask the lead or the user by mail: troupe send lead …",
  });
}

/**
 * As {@link refuseFromTeammate} for the teams of a home, whichever the command is about. A team whose records cannot be read
 * says nothing here.
 */
export function refuseFromTeammates(home: string, command: string): void {
  for (const team of allTeams(home).teams) {
    try {
      refuseFromTeammate(team, command);
    } catch (error) {
      const code = errnoOf(error);
      if (code === undefined || code === "from-teammate") throw error;
    }
  }
}

function ancestorsOf(pid: number): Set<number> {
  const ancestors = new Set<number>();
  for (
    let next = parentOf(pid);
    next !== undefined && next > 1 && !ancestors.has(next);
    next = parentOf(next)
  )
    ancestors.add(next);
  return ancestors;
}

function parentOf(pid: number): number | undefined {
  if (process.platform === "linux") return readStat(pid)?.ppid;
  try {
    return Number(
      execFileSync("ps", ["-o", "ppid=", "-p", String(pid)], { encoding: "utf8", timeout: 5000 }).trim(),
    );
  } catch {
    // ps says by its exit code that there is no such process any more.
    return undefined;
  }
}
