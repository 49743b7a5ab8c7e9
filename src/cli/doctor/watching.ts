import fs from "node:fs";
import path from "node:path";
import { messageOf } from "../../util/errors.js";
import { readTextIfExists } from "../../util/fs.js";
import { oneLine } from "../../util/text.js";
import { waitUntil } from "../../util/wait.js";
import type { Finding } from "./finding.js";
import { nearestExisting } from "./machine.js";

export interface WatchingProbe {
  /** How to watch; a parameter so that a place that tells nothing can be had anywhere. */
  readonly watch?: (directory: string, onChange: () => void) => { close(): void };
  readonly timeoutMs?: number;
}

/**
 * Whether files below TROUPE_HOME tell of changes, which is what makes mail quick: watches a directory of its own there, changes
 * it, and removes it again. Where TROUPE_HOME is missing it tries where that would be made.
 */
export async function checkWatching(
  home: string,
  signal: AbortSignal,
  { watch = fs.watch, timeoutMs = 1000 }: WatchingProbe = {},
): Promise<Finding> {
  const subject = "watching";
  const late = (why: string): Finding => ({
    subject,
    state: "warning",
    text: `${oneLine(why)}: mail comes with the next look, every 10 seconds`,
    remedy: "set TROUPE_HOME to a directory on a local disk, or raise the limits of inotify below",
  });
  let directory: string;
  try {
    directory = fs.mkdtempSync(path.join(nearestExisting(home), ".troupe-doctor-"));
  } catch (error) {
    return { subject, state: "absent", text: oneLine(`not tried: ${messageOf(error)}`) };
  }
  let watcher: { close(): void } | undefined;
  try {
    let rung = false;
    watcher = watch(directory, () => {
      rung = true;
    });
    fs.writeFileSync(path.join(directory, "change"), "");
    const started = performance.now();
    await waitUntil("an event", () => rung || performance.now() - started > timeoutMs, {
      timeoutMs: timeoutMs + 10_000,
      everyMs: 5,
      signal,
    });
    if (!rung) return late(`no event for a new file in ${path.dirname(directory)} within ${timeoutMs} ms`);
    return { subject, state: "ok", text: `${path.dirname(directory)} tells of changes` };
  } catch (error) {
    signal.throwIfAborted();
    return late(`no watch of ${path.dirname(directory)}: ${messageOf(error)}`);
  } finally {
    watcher?.close();
    fs.rmSync(directory, { recursive: true, force: true });
  }
}

/** How many watches this user may have and has (Linux only). */
export function checkInotify(proc = "/proc"): Finding {
  const subject = "inotify";
  const [watches, instances] = ["max_user_watches", "max_user_instances"].map((name) =>
    Number(readTextIfExists(path.join(proc, "sys/fs/inotify", name)) ?? Number.NaN),
  );
  if (watches === undefined || instances === undefined || Number.isNaN(watches + instances))
    return { subject, state: "absent", text: "no limits to tell on this system" };
  const used = inotifyInUse(proc);
  const text = `${used.watches} of ${watches} watches and ${used.instances} of ${instances} instances in use`;
  const isScarce = (most: number, taken: number, enough: number) => most < enough || taken > 0.9 * most;
  if (!isScarce(watches, used.watches, 8192) && !isScarce(instances, used.instances, 128))
    return { subject, state: "ok", text };
  return {
    subject,
    state: "warning",
    text: `${text}: when they are used up, mail comes with the next look, every 10 seconds`,
    remedy: "sysctl fs.inotify.max_user_watches=65536 fs.inotify.max_user_instances=512",
  };
}

/** What this user's processes have, as far as can be seen; the limits are per user. */
function inotifyInUse(proc: string): { watches: number; instances: number } {
  const owner = process.getuid?.();
  const pids = fs.readdirSync(proc).filter((name) => /^\d+$/.test(name));
  const tables = pids.flatMap((pid) => {
    try {
      const directory = path.join(proc, pid);
      if (fs.statSync(directory).uid !== owner) return [];
      return fs.readdirSync(path.join(directory, "fd")).flatMap((fd) => inotifyTable(directory, fd) ?? []);
    } catch {
      return []; // it has ended, or is not ours to look into
    }
  });
  const watches = tables.join("\n").match(/^inotify wd:/gm)?.length ?? 0;
  return { watches, instances: tables.length };
}

function inotifyTable(directory: string, fd: string): string | undefined {
  try {
    if (!fs.readlinkSync(path.join(directory, "fd", fd)).includes("inotify")) return undefined;
    return fs.readFileSync(path.join(directory, "fdinfo", fd), "utf8");
  } catch {
    return undefined; // closed meanwhile
  }
}
