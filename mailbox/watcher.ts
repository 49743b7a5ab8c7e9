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
  let watching = start();
  const timer = setInterval(sweep, options.sweepMs ?? 10_000);

  return {
    async close() {
      closed = true;
      clearInterval(timer);
      await stop(watching);
    },
  };

  function start(): Watching {
    broken = false;
    const current = () => !closed && started === watching;
    const ring = () => {
      if (current()) bell();
    };
    const fail = (error: unknown) => {
      if (!current()) return;
      broken = true;
      trouble("watch-failed", `watching ${directory} failed: ${messageOf(error)}`, error);
    };
    const started: Watching = {
      direct: watchDirectly(directory, ring, (error) => setImmediate(fail, error)),
      thorough: watch(directory, { atomic: false, depth: 0, ignoreInitial: false, followSymlinks: false }),
    };
    for (const event of ["add", "ready"] as const) started.thorough.on(event, ring);
    started.thorough.on("error", fail);
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
    const old = watching;
    watching = start();
    stop(old).catch((error) =>
      trouble("watch-failed", `a watch of ${directory} did not end: ${messageOf(error)}`, error),
    );
  }

  function trouble(code: string, message: string, cause?: unknown): void {
    if (told.has(code)) return;
    told.add(code);
    const remedy = "mail is looked for every few seconds meanwhile; on Linux see fs.inotify in sysctl";
    onTrouble(new TroupeError(code, message, { remedy, cause }));
  }
}

/**
 * Two watches of one directory, which cost the system one. The direct one rings at once: chokidar first begins to read the
 * directory, also for its "raw" event, and that takes longer than reading the message does. What chokidar adds is that
 * "ready" and "add" tell of files by looking for them.
 */
interface Watching {
  readonly direct: fs.FSWatcher | undefined;
  readonly thorough: FSWatcher;
}

function watchDirectly(
  directory: string,
  onEvent: () => void,
  onError: (error: unknown) => void,
): fs.FSWatcher | undefined {
  try {
    return fs.watch(directory, onEvent).on("error", onError);
  } catch (error) {
    onError(error);
    return undefined;
  }
}

async function stop({ direct, thorough }: Watching): Promise<void> {
  direct?.close();
  await thorough.close();
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
