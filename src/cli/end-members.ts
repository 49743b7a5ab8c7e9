import { endAbandoned } from "../team/abandoned.js";
import { refuseFromTeammates } from "../team/ancestors.js";
import { defaults } from "../team/defaults.js";
import { connectHost, type HostConnection } from "../team/host/client.js";
import type { EndReport, Notes } from "../team/host/protocol.js";
import { rouseHost } from "../team/host/rouse-host.js";
import { isRunning, type LocatedTeam } from "../team/locate.js";
import { readHostRecord } from "../team/records.js";
import { memberNamed } from "../team/send.js";
import { TroupeError } from "../util/errors.js";
import { waitUntil } from "../util/wait.js";
import type { Io } from "./io.js";
import { teamOf } from "./team-of.js";

/** How members ended, and what else there is to know. */
export interface EndedMembers extends Notes {
  readonly members: readonly EndReport[];
}

/**
 * Ends members through the team's host; one that does not answer is woken, and killed if it stays silent and the whole team
 * is to end. Where the host is dead, says so and ends what it left directly. `names` limits that to some members; processes
 * in `keep` are left alone. What is to be known besides is told as notes, with what to do.
 */
export async function endMembers(
  io: Io,
  teamName: string | undefined,
  work: {
    readonly ask: (host: HostConnection) => Promise<EndedMembers>;
    readonly names?: readonly string[];
    readonly keep: readonly number[];
  },
): Promise<EndedMembers> {
  const team = teamOf(io, teamName);
  refuseFromTeammates(team.paths.home, work.names === undefined ? "down" : "stop");
  const names = work.names?.map((name) => memberNamed(team, name));
  const note = (text: string): Promise<void> => io.note(`troupe: ${text}`);
  await rouseHost(team, { mayKill: names === undefined, note, signal: io.signal });
  const ended = await askHost(team, work.ask, io);
  // A host that ends, or is being killed, stops listening before it lets go of the team.
  if (names === undefined || ended === undefined)
    await waitUntil(`the host of ${team.paths.dirName} lets go of it`, () => !isRunning(team.paths), {
      timeoutMs: defaults.hostRequestMs,
      signal: io.signal,
    });
  for (const text of ended?.notes ?? []) await note(text);
  if (ended?.notes !== undefined)
    await note(`what that left is ended once it is mended: troupe down --team ${team.paths.dirName}`);
  if (ended !== undefined) return ended;
  const hasEnded = readHostRecord(team.paths)?.endedAt !== undefined;
  await io.note(
    hasEnded
      ? `troupe: team ${team.record.name} has ended before`
      : `troupe: no host runs ${team.record.name}; ending what is left of it directly`,
  );
  const { keep } = work;
  return {
    members: await endAbandoned(team, { env: io.env, keep, ...(names === undefined ? {} : { names }) }),
  };
}

/** What the host reports; undefined where there is none, or it ended before it answered. */
async function askHost(
  team: LocatedTeam,
  ask: (host: HostConnection) => Promise<EndedMembers>,
  io: Io,
): Promise<EndedMembers | undefined> {
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
