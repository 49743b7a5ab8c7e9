import fs from "node:fs";
import { type MailboxWatcher, watchMailbox } from "../../mailbox/index.js";
import type { TroupeError } from "../util/errors.js";
import type { TeamPaths } from "./paths.js";
import type { TeamMail } from "./team-mail.js";

/**
 * Calls `onBell` whenever there may be news in `mail`, one call after the other, until the signal: at once where watching works,
 * else with the next sweep. Members that join are watched, too. Rejects with what `onBell` throws.
 */
export async function followTeamMail(
  paths: TeamPaths,
  mail: TeamMail,
  onBell: () => Promise<void>,
  onTrouble: (error: TroupeError) => void,
  signal: AbortSignal,
): Promise<void> {
  const watchers = new Map<string, MailboxWatcher>();
  const told = new Set<string>();
  let rung = true;
  let ring: () => void = () => undefined;
  const bell = (): void => {
    rung = true;
    ring();
  };
  const tell = (error: TroupeError): void => {
    if (!told.has(error.code)) onTrouble(error);
    told.add(error.code);
  };
  const joining = watchRecords(paths.members, bell);
  signal.addEventListener("abort", bell, { once: true });
  try {
    while (!signal.aborted) {
      if (!rung)
        await new Promise<void>((resolve) => {
          ring = resolve;
        });
      if (signal.aborted) break;
      rung = false;
      await onBell();
      for (const [owner, dir] of mail.owners)
        if (!watchers.has(owner))
          watchers.set(owner, watchMailbox(dir, bell, { onSweep: bell, onTrouble: tell }));
    }
  } finally {
    signal.removeEventListener("abort", bell);
    joining?.close();
    await Promise.all([...watchers.values()].map((watcher) => watcher.close()));
  }
}

/**
 * Calls back when a member joins, whose mailbox is older than its record; often for nothing, but not for every change of a record.
 * Where this cannot be watched the sweep of the mailboxes finds it, and their own watches tell what is wrong.
 */
function watchRecords(dir: string, onNew: () => void): fs.FSWatcher | undefined {
  const known = new Set<string | null>();
  const onChange = (_event: string, name: string | null): void => {
    if (known.has(name) || name?.startsWith(".")) return;
    if (name !== null) known.add(name);
    onNew();
  };
  try {
    return fs.watch(dir, onChange).on("error", () => undefined);
  } catch {
    return undefined;
  }
}
