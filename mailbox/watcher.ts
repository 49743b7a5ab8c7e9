import fs from "node:fs";
import path from "node:path";
import { messageOf, TroupeError } from "../src/util/errors.js";
import { isSameDirectory, isUnchanged, lookAt } from "./look.js";

/** A running watch. `close` ends it; no bell rings after it was called. Idempotent. */
export interface MailboxWatcher {
  close(): Promise<void>;
}

export interface WatchOptions {
  /**
   * How often to look at the directory itself, whatever events come or not; 10 s. Where the watch works and six looks in a row
   * found nothing, every sixth time.
   */
  readonly sweepMs?: number;
  /** Called every `sweepMs`, after the bell of the look if it rang one. */
  readonly onSweep?: () => void;
  /**
   * Told of each kind of trouble (TroupeError `watch-failed` or `mailbox-replaced`) once, and again if a sweep has found all well
   * in between. Mail then comes with the sweep, which also tries to watch again.
   */
  readonly onTrouble?: (error: TroupeError) => void;
}

/**
 * Calls `onBell` when there may be new mail in the mailbox `dir`: often for nothing, sometimes several times for one
 * message, but never later than the sweep. The first bell says that watching has begun: what came earlier is there to
 * be claimed then. Where the system tells the name in `new/` that the bell rings for, it is given. Callbacks run with the
 * identity of the caller, and none before this function has returned. Throws TroupeError only through `onTrouble`.
 */
export function watchMailbox(
  dir: string,
  onBell: (file?: string) => void,
  options: WatchOptions = {},
): MailboxWatcher {
  const directory = path.join(dir, "new");
  const told = new Set<string>();
  let closed = false;
  let broken = false;
  let quietSweeps = 0;
  let watch = start();
  let seen = lookAt(directory);
  const begun = setImmediate(() => onBell());
  const stopSweeping = repeat(options.sweepMs ?? 10_000, sweep);

  return {
    async close() {
      closed = true;
      clearImmediate(begun);
      stopSweeping();
      watch?.close();
    },
  };

  /**
   * A watch that is in force when this returns, so that whatever comes later rings. Its handle is our own, and keeps the identity
   * of who made it; a handle that several share would run all callbacks as the first of them.
   */
  function start(): fs.FSWatcher | undefined {
    broken = false;
    try {
      const started: fs.FSWatcher = fs.watch(directory, (_, file) => {
        quietSweeps = 0;
        if (started === watch && !closed) onBell(file ?? undefined);
      });
      return started.on("error", (error) => {
        if (started === watch) fail(error);
      });
    } catch (error) {
      broken = true;
      setImmediate(fail, error);
      return undefined;
    }
  }

  function fail(error: unknown): void {
    broken = true;
    trouble("watch-failed", `watching ${directory} failed: ${messageOf(error)}`, error);
  }

  function sweep(): void {
    // A watch that works is believed for longer where nothing happens: a thousand looks cost 40 ms.
    const isQuiet = !broken && quietSweeps >= patience;
    quietSweeps++;
    if (!isQuiet || quietSweeps % patience === 0) check();
    if (!closed) options.onSweep?.();
  }

  function check(): void {
    const now = lookAt(directory);
    if (isSameDirectory(seen, now)) {
      if (!broken && now !== undefined) told.clear();
    } else {
      broken = true;
      trouble("mailbox-replaced", `the directory ${directory} was ${now ? "replaced" : "removed"}`);
    }
    const renewed = broken && now !== undefined && restart();
    const news = now !== undefined && !isUnchanged(seen, now);
    seen = now;
    if (!news && !renewed) return;
    quietSweeps = 0;
    if (!closed) onBell();
  }

  function restart(): boolean {
    watch?.close();
    watch = start();
    return watch !== undefined;
  }

  function trouble(code: string, message: string, cause?: unknown): void {
    if (closed || told.has(code)) return;
    told.add(code);
    const remedy = "mail is looked for every few seconds meanwhile; on Linux see fs.inotify in sysctl";
    options.onTrouble?.(new TroupeError(code, message, { remedy, cause }));
  }
}

/** After how many sweeps without news only every so-manieth looks. */
const patience = 6;

/**
 * Does `work` every `ms` milliseconds, at whole multiples of `ms` in the life of this process: a thousand sweeps then wake it
 * up as rarely as one. The result ends it.
 */
function repeat(ms: number, work: () => void): () => void {
  let timer = setTimeout(
    () => {
      timer = setInterval(work, ms);
      work();
    },
    ms - (performance.now() % ms),
  );
  return () => clearTimeout(timer);
}
