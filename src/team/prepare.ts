import fs from "node:fs";
import fsp from "node:fs/promises";
import path from "node:path";
import type { BackendType } from "../../backends/types.js";
import { createMailbox } from "../../mailbox/index.js";
import { TroupeError } from "../util/errors.js";
import { ensureDir, ensurePrivateDir, listIfExists, writeFileAtomic } from "../util/fs.js";
import { type Lock, tryLock } from "../util/lock.js";
import { liveness } from "../util/process-identity.js";
import { userKeys } from "./keys.js";
import { badHome, ensureHome, isRunning } from "./locate.js";
import { type TeamPaths, teamDirName, teamPaths } from "./paths.js";
import { memberFile, readHostRecord, readMembers, type TeamRecord, writeRecord } from "./records.js";
import { mailboxOf } from "./send.js";

/** How long the files of an ended team are kept after its name was used again. */
const archiveDays = 14;

export interface PreparedTeam {
  readonly paths: TeamPaths;
  readonly record: TeamRecord;
  /** Held by this process: it is the team's host from here on. */
  readonly lock: Lock;
  /** Where the files of an earlier team of this name went, if there was one. */
  readonly archived?: string;
}

/**
 * Makes a team's directories, records and the user's mailbox, and takes its lock. An ended team of the same name is
 * archived. Throws TroupeError `team-runs` or `members-left`, before anything is changed.
 */
export async function prepareTeam(options: {
  readonly home: string;
  readonly name: string;
  readonly projectRoot: string;
  readonly lead: "user" | "lead";
  readonly backend: { readonly type: BackendType; readonly reason: string };
  /** The command that runs this troupe. */
  readonly troupe: readonly string[];
}): Promise<PreparedTeam> {
  ensureHome(options.home);
  const paths = teamPaths(options.home, teamDirName(options.name, options.projectRoot));
  const record: TeamRecord = {
    v: 1,
    name: options.name,
    projectRoot: options.projectRoot,
    lead: options.lead,
    backend: options.backend,
    createdAt: new Date().toISOString(),
  };
  const archived = fs.existsSync(paths.root) ? await archive(paths) : undefined;
  try {
    for (const dir of [
      paths.members,
      paths.mail,
      paths.requests,
      paths.tasks,
      paths.scratch,
      paths.run,
      paths.bin,
    ])
      await ensureDir(dir);
  } catch (error) {
    throw badHome(options.home, error);
  }
  if (paths.sockets !== paths.run) {
    await ensurePrivateDir(path.dirname(paths.sockets));
    await ensurePrivateDir(paths.sockets);
  }
  const lock = await tryLock(paths.lock);
  if (lock === undefined) throw runs(paths);
  try {
    await writeFileAtomic(path.join(paths.bin, "troupe"), shim(options.troupe), 0o700);
    await createMailbox(mailboxOf(paths, "user"));
    await writeUser(paths, options.home, options.name);
    // Last: with this record the team exists for everybody else.
    await writeRecord(paths.teamRecord, record);
  } catch (error) {
    lock.release();
    throw error;
  }
  await pruneArchive(options.home);
  return { paths, record, lock, ...(archived === undefined ? {} : { archived }) };
}

/** Removes what {@link prepareTeam} made, for a start that failed before any member ran. Gives the archive back its place. */
export async function undoPrepare(prepared: PreparedTeam): Promise<void> {
  prepared.lock.release();
  await fsp.rm(prepared.paths.root, { recursive: true, force: true });
  if (prepared.archived !== undefined) await fsp.rename(prepared.archived, prepared.paths.root);
}

async function archive(paths: TeamPaths): Promise<string> {
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
  const stamp = new Date().toISOString().replace(/[:.]/g, "-");
  const target = path.join(paths.home, "teams", ".archive", `${paths.dirName}-${stamp}`);
  try {
    await ensureDir(path.dirname(target));
    await fsp.rename(paths.root, target);
  } catch (error) {
    lock.release();
    throw error;
  }
  return target;
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
    if ((await fsp.stat(dir)).mtimeMs < oldest) await fsp.rm(dir, { recursive: true, force: true });
  }
}
