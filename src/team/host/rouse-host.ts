import { TroupeError } from "../../util/errors.js";
import { isHeld, readLock } from "../../util/lock.js";
import { liveness, type ProcessIdentity } from "../../util/process-identity.js";
import { waitUntil } from "../../util/wait.js";
import { defaults } from "../defaults.js";
import type { LocatedTeam } from "../locate.js";
import { connectHost } from "./client.js";

/** How long a killed host may take to be gone, in milliseconds. */
const killMs = 5_000;

/**
 * Sees to it that a team can be ended although its host does not answer: one that is stopped is woken, and one that stays
 * silent is killed, by its identity, so that what it leaves can be ended without it. `mayKill` says no for who wants less
 * than the team's end: TroupeError `host-silent` then. Nothing is done where no host holds the team, or it answers.
 */
export async function rouseHost(
  { paths }: LocatedTeam,
  options: {
    readonly mayKill: boolean;
    readonly note: (text: string) => Promise<void>;
    /** How long it may take to answer, each time; default 10 s. */
    readonly answerMs?: number;
    readonly signal?: AbortSignal;
  },
): Promise<void> {
  const { note, answerMs = defaults.hostRequestMs, signal } = options;
  const lock = readLock(paths.lock);
  if (lock === undefined || !isHeld(lock)) return;
  const answers = (): Promise<boolean> => hostAnswers(paths, answerMs, signal);
  if (await answers()) return;
  const host = lock.owner;
  const name = `the host of ${paths.dirName} (process ${host.pid})`;
  await note(`${name} does not answer; waking it`);
  sendTo(host, "SIGCONT");
  if (await answers()) return;
  if (!options.mayKill || liveness(host) === "unknown")
    throw new TroupeError("host-silent", `${name} does not answer`, {
      kind: "not-reached",
      remedy: `end the team without it, where it runs: troupe down --team ${paths.dirName}`,
    });
  await note(`${name} stays silent; killing it`);
  sendTo(host, "SIGKILL");
  await waitUntil(`the end of ${name}`, () => liveness(host) === "gone", {
    timeoutMs: killMs,
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Whether the host answers anything; one that has gone meanwhile needs no rousing. */
async function hostAnswers(
  paths: LocatedTeam["paths"],
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const own = AbortSignal.timeout(timeoutMs);
  try {
    const host = await connectHost(paths, signal === undefined ? own : AbortSignal.any([signal, own]));
    try {
      // Answered at once, whatever the host is busy with.
      await host?.request(
        "subscribe",
        { backlog: 0 },
        { timeoutMs, ...(signal === undefined ? {} : { signal }) },
      );
      return true;
    } finally {
      host?.close();
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (own.aborted || (error instanceof TroupeError && error.code === "deadline")) return false;
    // What it answers, or that it ended, is for the request that follows to meet.
    return true;
  }
}

function sendTo(host: ProcessIdentity, signal: "SIGCONT" | "SIGKILL"): void {
  if (liveness(host) === "alive") process.kill(host.pid, signal);
}
