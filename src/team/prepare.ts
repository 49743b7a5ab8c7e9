import fs from "node:fs";
import fsp from "node:fs/promises";
import path from "node:path";
import type { BackendType } from "../../backends/types.js";
import { createMailbox } from "../../mailbox/index.js";
import { TroupeError } from "../util/errors.js";
import { ensureDir, ensurePrivateDir, listIfExists, writeFileAtomic } from "../util/fs.js";
import { type Lock, tryLock, withLock } from "../util/lock.js";
import { liveness } from "../util/process-identity.js";
import { defaults } from "./defaults.js";
import { userKeys } from "./keys.js";
import { badHome, ensureHome, isRunning } from "./locate.js";
import { type TeamPaths, teamDirName, teamPaths } from "./paths.js";
import { memberFile, readHostRecord, readMembers, type TeamRecord, writeRecord } from "./records.js";
import { removeSockets } from "./remove-sockets.js";
import { mailboxOf } from "./send.js";

/** How long the files of an ended team are kept after its name was used again. */
export const archiveDays = 14;

export interface PreparedTeam {
  readonly paths: TeamPaths;
  readonly record: TeamRecord;
  /** Held by this process: it is the team's host from here on. */
  readonly lock: Lock;
  /** Where the files of an earlier team of this name went, if there was one. */
  readonly archived?: Archived;
}

/** The files of an ended team, in the archive. Their lock came along, held by this process. */
export interface Archived {
  readonly dir: string;
  readonly lock: Lock;
}

/**
 * Makes a team's directories, records and the user's mailbox, and takes its lock. An ended team of the same name is
 * archived. Of several processes that start a team at once, one succeeds. Throws TroupeError `team-runs` or `members-left`;
 * whatever it throws, everything is as it was before.
 */
export async function prepareTeam(options: {
  readonly home: string;
  readonly name: string;
  readonly projectRoot: string;
  readonly lead: "user" | "lead";
  readonly backend: { readonly type: BackendType; readonly reason: string };
  readonly channels?: TeamRecord["channels"];
  /** The command that runs this troupe. */
  readonly troupe: readonly string[];
}): Promise<PreparedTeam> {
  const { home, name, projectRoot, lead, backend } = options;
  const channels = options.channels === undefined ? {} : { channels: options.channels };
  ensureHome(home);
  const paths = teamPaths(home, teamDirName(name, projectRoot));
  const createdAt = new Date().toISOString();
  const record: TeamRecord = { v: 1, name, projectRoot, lead, backend, ...channels, createdAt };
  // The team's own lock lies in what is archived, so until the new one is taken another has to keep starters apart.
  const startLock = path.join(home, "locks", `start-${paths.dirName}`);
  return withLock(startLock, defaults.hostRequestMs, async () => {
    const archived = fs.existsSync(paths.root) ? await archive(paths) : undefined;
    const earlier = archived === undefined ? {} : { archived };
    let lock: Lock | undefined;
    try {
      await makeDirectories(paths);
      lock = await tryLock(paths.lock);
      if (lock === undefined) throw runs(paths);
      await writeFileAtomic(path.join(paths.bin, "troupe"), shim(options.troupe), 0o700);
      await createMailbox(mailboxOf(paths, "user"));
      await writeUser(paths, home, name);
      // Last: with this record the team exists for everybody else.
      await writeRecord(paths.teamRecord, record);
      await pruneArchive(home);
      return { paths, record, lock, ...earlier };
    } catch (error) {
      await undoPrepare({ paths, lock, ...earlier });
      throw error;
    }
  });
}

/** Removes what {@link prepareTeam} made, for a start that failed before any member ran. Gives the archive back its place. */
export async function undoPrepare({
  paths,
  lock,
  archived,
}: {
  readonly paths: TeamPaths;
  readonly lock: Lock | undefined;
  readonly archived?: Archived;
}): Promise<void> {
  lock?.release();
  await fsp.rm(paths.root, { recursive: true, force: true });
  if (archived !== undefined) {
    await fsp.rename(archived.dir, paths.root);
    archived.lock.release();
  }
  // Without the lock it never got as far as to know that the directory of sockets is its own.
  if (lock !== undefined) removeSockets(paths);
}

async function makeDirectories(paths: TeamPaths): Promise<void> {
  const { members, mail, requests, tasks, scratch, run, bin, sockets } = paths;
  try {
    for (const dir of [members, mail, requests, tasks, scratch, run, bin]) await ensureDir(dir);
  } catch (error) {
    throw badHome(paths.home, error);
  }
  if (sockets === run) return;
  await ensurePrivateDir(path.dirname(sockets));
  await ensurePrivateDir(sockets);
}

async function archive(paths: TeamPaths): Promise<Archived> {
  if (isRunning(paths)) throw runs(paths);
  const left = readMembers(paths).filter(
    ({ process }) => process !== undefined && liveness(process) === "alive",
  );
  if (left.length > 0 && readHostRecord(paths)?.endedAt === undefined)
    throw new TroupeError(
      "members-left",
      `the last host of ${paths.dirName} is gone, and ${left.map(({ name }) => name).join(", ")} still run`,
      { remedy: `end them first: troupe down --team ${paths.dirName}` },
    );
  const lock = await tryLock(paths.lock);
  if (lock === undefined) throw runs(paths);
  const now = new Date();
  const stamp = now.toISOString().replace(/[:.]/g, "-");
  const dir = path.join(paths.home, "teams", ".archive", `${paths.dirName}-${stamp}`);
  try {
    await ensureDir(path.dirname(dir));
    // The time from which the archive keeps it.
    await fsp.utimes(paths.root, now, now);
    await fsp.rename(paths.root, dir);
  } catch (error) {
    lock.release();
    throw error;
  }
  return { dir, lock };
}

function runs(paths: TeamPaths): TroupeError {
  const pid = readHostRecord(paths)?.process.pid;
  const host = pid === undefined ? "" : ` (host process ${pid})`;
  return new TroupeError("team-runs", `the team ${paths.dirName} runs already${host}`, {
    remedy: `look at it: troupe status --team ${paths.dirName}; end it: troupe down --team ${paths.dirName}`,
  });
}

async function writeUser(paths: TeamPaths, home: string, team: string): Promise<void> {
  await writeRecord(memberFile(paths, "user"), {
    v: 1,
    id: "00000000",
    order: 0,
    name: "user",
    agentId: `user@${team}`,
    kind: "user",
    what: "you",
    colour: "cyan",
    service: false,
    incarnation: "00000000",
    publicKey: userKeys(home).publicKey,
    state: "idle",
    reason: "done",
    since: new Date().toISOString(),
  });
}

/** The `troupe` that teammates find first in PATH: the very one that runs the team. */
function shim(troupe: readonly string[]): string {
  return `#!/bin/sh\nexec ${troupe.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ")} "$@"\n`;
}

async function pruneArchive(home: string): Promise<void> {
  const root = path.join(home, "teams", ".archive");
  const oldest = Date.now() - archiveDays * 86_400_000;
  for (const name of listIfExists(root)) {
    const dir = path.join(root, name);
    // Another start may be pruning too.
    const archivedAt = fs.statSync(dir, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (archivedAt < oldest) await fsp.rm(dir, { recursive: true, force: true });
  }
}
