import type { HostConnection } from "../team/host/client.js";
import type { HostResult } from "../team/host/protocol.js";
import type { LocatedTeam } from "../team/locate.js";
import { readMembers } from "../team/records.js";
import { TroupeError } from "../util/errors.js";
import { delay } from "../util/wait.js";
import type { Io } from "./io.js";

/** How often it is looked how many members are there, and how long there may be no new one. */
const times = { lookMs: 5_000, silenceMs: 60_000 };

/** A wait for a thousand members on a busy machine; the silence ends it long before where nothing happens. */
const longestMs = 3_600_000;

/** Up to so many are there too soon to be worth a word. */
const fewMembers = 8;

/**
 * Waits until every member of a team has started or failed to, and tells from time to time how many have. Throws what the
 * host answers, or TroupeError `deadline` where within a minute none did.
 */
export async function awaitStarted(
  team: LocatedTeam,
  host: HostConnection,
  io: Pick<Io, "note" | "signal">,
  { lookMs, silenceMs } = times,
): Promise<HostResult<"ready">> {
  const over = new AbortController();
  const signal = AbortSignal.any([io.signal, over.signal]);
  const silence = watchStart(team, io, { lookMs, silenceMs }, signal);
  try {
    return await Promise.race([host.request("ready", {}, { timeoutMs: longestMs, signal }), silence]);
  } finally {
    over.abort();
    await silence.catch(() => undefined);
  }
}

async function watchStart(
  { paths }: LocatedTeam,
  io: Pick<Io, "note">,
  { lookMs, silenceMs }: typeof times,
  signal: AbortSignal,
): Promise<never> {
  let before = 0;
  for (let silentMs = 0; silentMs < silenceMs; silentMs += lookMs) {
    await delay(lookMs, signal);
    const members = readMembers(paths).filter(({ kind }) => kind !== "user");
    const there = members.filter(({ state }) => state !== "starting").length;
    if (there === before) continue;
    before = there;
    silentMs = 0;
    if (members.length > fewMembers) await io.note(`troupe: ${there} of ${members.length} members are there`);
  }
  throw new TroupeError(
    "deadline",
    `the team still starts, and no member came within ${silenceMs / 1000} s`,
    {
      kind: "not-reached",
      remedy: `look at it: troupe status --team ${paths.dirName}; end it: troupe down --team ${paths.dirName}`,
    },
  );
}
