import fs from "node:fs";
import path from "node:path";
import { type FSWatcher, watch } from "chokidar";
import { bindIdentity } from "../src/util/context.js";
import { messageOf, TroupeError } from "../src/util/errors.js";

/** A running watch. `close` ends it; no bell rings after it was called. */
export interface MailboxWatcher {
  close(): Promise<void>;
}

export interface WatchOptions {
  /** How often to look at the directory itself, whatever events come or not; 10 s. */
  readonly sweepMs?: number;
  /** Called with every sweep, after its bell if it rang one. */
  readonly onSweep?: () => void;
  /**
   * Told once for each kind of trouble (TroupeError `watch-failed` or `mailbox-replaced`). Mail then comes with the sweep, which
   * also tries to watch again.
   */
  readonly onTrouble?: (error: TroupeError) => void;
}

/**
 * Calls `onBell` when there may be new mail in the mailbox `dir`: often for nothing, sometimes several times for one
 * message, but never later than the sweep. The first bell says that watching has begun: what came earlier is there to
 * be claimed then. Callbacks run with the identity of the caller. Throws TroupeError only through `onTrouble`.
 */
export function watchMailbox(dir: string, onBell: () => void, options: WatchOptions = {}): MailboxWatcher {
  const directory = path.join(dir, "new");
  const bell = bindIdentity(onBell);
  const onSweep = bindIdentity(options.onSweep ?? (() => undefined));
  const onTrouble = bindIdentity(options.onTrouble ?? (() => undefined));
  const told = new Set<string>();
  let closed = false;
  let broken = false;
  let seen = look(directory);
  let watcher = start();
  const timer = setInterval(sweep, options.sweepMs ?? 10_000);

  return {
    async close() {
      closed = true;
      clearInterval(timer);
      await watcher.close();
    },
  };

  function start(): FSWatcher {
    broken = false;
    const started = watch(directory, {
      atomic: false,
      depth: 0,
      ignoreInitial: false,
      followSymlinks: false,
    });
    // The raw event comes before chokidar has looked at anything, and so a good deal earlier than "add".
    for (const event of ["raw", "add", "ready"] as const)
      started.on(event, () => {
        if (!closed && started === watcher) bell();
      });
    started.on("error", (error) => {
      if (closed || started !== watcher) return;
      broken = true;
      trouble("watch-failed", `watching ${directory} failed: ${messageOf(error)}`, error);
    });
    return started;
  }

  function sweep(): void {
    const now = look(directory);
    if (now?.identity !== seen?.identity) {
      broken = true;
      trouble("mailbox-replaced", `the directory ${directory} was ${now ? "replaced" : "removed"}`);
    }
    const changed = now !== undefined && (now.changedAt === undefined || now.changedAt !== seen?.changedAt);
    seen = now;
    if (broken && now !== undefined) restart();
    if (changed) bell();
    if (!closed) onSweep();
  }

  function restart(): void {
    const old = watcher;
    watcher = start();
    old.close().catch((error) => trouble("watch-failed", `a watch did not end: ${messageOf(error)}`, error));
  }

  function trouble(code: string, message: string, cause?: unknown): void {
    if (told.has(code)) return;
    told.add(code);
    const remedy = "mail is looked for every few seconds meanwhile; on Linux see fs.inotify in sysctl";
    onTrouble(new TroupeError(code, message, { remedy, cause }));
  }
}

interface Look {
  readonly identity: string;
  readonly changedAt: bigint | undefined;
}

/** What a directory looks like now. `changedAt` is undefined while another change may fall into the same clock tick. */
function look(directory: string): Look | undefined {
  try {
    const stat = fs.statSync(directory, { bigint: true });
    const settled = BigInt(Date.now()) - stat.mtimeMs > 1000n;
    // File systems use an inode number again at once, so the time of birth is needed too.
    return { identity: `${stat.ino} ${stat.birthtimeNs}`, changedAt: settled ? stat.mtimeNs : undefined };
  } catch {
    return undefined; // what a claim then says about it is more precise
  }
}
