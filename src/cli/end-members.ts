import { endAbandoned } from "../team/abandoned.js";
import { refuseFromTeammates } from "../team/ancestors.js";
import { defaults } from "../team/defaults.js";
import { connectHost, type HostConnection } from "../team/host/client.js";
import type { EndReport } from "../team/host/protocol.js";
import { rouseHost } from "../team/host/rouse-host.js";
import { isRunning, type LocatedTeam } from "../team/locate.js";
import { readHostRecord } from "../team/records.js";
import { memberNamed } from "../team/send.js";
import { TroupeError } from "../util/errors.js";
import { waitUntil } from "../util/wait.js";
import type { Io } from "./io.js";
import { teamOf } from "./team-of.js";

/**
 * Ends members through the team's host; one that does not answer is woken, and killed if it stays silent and the whole team
 * is to end. Where the host is dead, says so and ends what it left directly. `names` limits
 * that to some members.
 */
export async function endMembers(
  io: Io,
  teamName: string | undefined,
  work: {
    readonly ask: (host: HostConnection) => Promise<readonly EndReport[]>;
    readonly names?: readonly string[];
  },
): Promise<readonly EndReport[]> {
  const team = teamOf(io, teamName);
  refuseFromTeammates(team.paths.home, work.names === undefined ? "down" : "stop");
  const names = work.names?.map((name) => memberNamed(team, name));
  const note = (text: string): Promise<void> => io.note(`troupe: ${text}`);
  await rouseHost(team, { mayKill: names === undefined, note, signal: io.signal });
  const reports = await askHost(team, work.ask, io);
  // A host that ends, or is being killed, stops listening before it lets go of the team.
  if (names === undefined || reports === undefined)
    await waitUntil(`the host of ${team.paths.dirName} lets go of it`, () => !isRunning(team.paths), {
      timeoutMs: defaults.hostRequestMs,
      signal: io.signal,
    });
  if (reports !== undefined) return reports;
  const hasEnded = readHostRecord(team.paths)?.endedAt !== undefined;
  await io.note(
    hasEnded
      ? `troupe: team ${team.record.name} has ended before`
      : `troupe: no host runs ${team.record.name}; ending what is left of it directly`,
  );
  return endAbandoned(team, { env: io.env, ...(names === undefined ? {} : { names }) });
}

/** What the host reports; undefined where there is none, or it ended before it answered. */
async function askHost(
  team: LocatedTeam,
  ask: (host: HostConnection) => Promise<readonly EndReport[]>,
  io: Io,
): Promise<readonly EndReport[] | undefined> {
  const host = await connectHost(team.paths, io.signal);
  try {
    return host && (await ask(host));
  } catch (error) {
    if (error instanceof TroupeError && error.code === "host-gone") return undefined;
    throw error;
  } finally {
    host?.close();
  }
}
