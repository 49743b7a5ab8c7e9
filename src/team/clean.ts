import fs from "node:fs";
import fsp from "node:fs/promises";
import path from "node:path";
import { endTree } from "../../backends/process-tree.js";
import { errnoOf, messageOf, TroupeError } from "../util/errors.js";
import { listIfExists } from "../util/fs.js";
import { isHeld, readLock, tryLock } from "../util/lock.js";
import { endAbandoned } from "./abandoned.js";
import { refuseFromTeammates } from "./ancestors.js";
import { defaults } from "./defaults.js";
import { readKept } from "./kept.js";
import { findLeftovers, findStrays, type Leftover, processesOf, type Stray } from "./leftovers.js";
import { allTeams, isRunning, type LocatedTeam, teamsNamed } from "./locate.js";
import { archiveDays } from "./prepare.js";
import { readHostRecord } from "./records.js";
import { tmuxLocksOf } from "./tmux-remains.js";

type Env = Readonly<Record<string, string | undefined>>;

/**
 * A leftover, and what became of it: `left` is what is still there after it should have been ended, `kept` what a person
 * uses.
 */
export interface CleanedItem extends Omit<Leftover, "kept"> {
  readonly outcome: "found" | "ended" | "left" | "kept";
}

export interface CleanReport {
  readonly items: readonly CleanedItem[];
  /** What was not looked into, why, and what a person can do. */
  readonly skipped: readonly { readonly what: string; readonly reason: string; readonly remedy: string }[];
}

/**
 * Ends what dead hosts left in `home`, and nothing else: teams that a host runs are spared, and whatever does not prove by
 * identity, run id, tag or place that it is a team's. Everything is found, ended and looked for again, so that `ended` is
 * proven. With `dryRun` it is only found. Throws TroupeError `from-teammate`, or `no-team` for a `team` that is none.
 */
export async function cleanHome(options: {
  readonly home: string;
  readonly env: Env;
  /** The name of a team or of its directory; default all teams. */
  readonly team?: string | undefined;
  readonly dryRun: boolean;
}): Promise<CleanReport> {
  const { home, env, dryRun } = options;
  refuseFromTeammates(home, "clean");
  const { teams, damaged } = chosen(home, options.team);
  const skipped = damaged.map(({ paths, error }) => ({
    what: paths.dirName,
    reason: error.message,
    remedy: error.remedy ?? "",
  }));
  const items: CleanedItem[] = [];
  const strays = findStrays(home);
  const parts: Part[] = [
    ...teams.filter(({ paths }) => !isRunning(paths)).map((team) => teamPart(team, env)),
    ...orphansOf(strays, home, options.team),
    ...(options.team === undefined ? [locksPart(home, env), ...teams.map(expiredPart)] : []),
  ];
  for (const part of parts) {
    const skip: Skip = (error) => {
      if (errnoOf(error) === undefined) throw error;
      const remedy = (error instanceof TroupeError ? error.remedy : undefined) ?? "try again";
      const one = { what: part.what, reason: messageOf(error), remedy };
      if (!skipped.some(({ what, reason }) => what === one.what && reason === one.reason)) skipped.push(one);
    };
    items.push(...(await cleanPart(part, dryRun, skip)));
  }
  return { items, skipped };
}

/** Told of what could not be looked into or ended; throws what is a fault of ours. */
type Skip = (error: unknown) => void;

/** What can be cleaned by itself. */
interface Part {
  readonly what: string;
  find(skip: Skip): Promise<readonly Leftover[]> | readonly Leftover[];
  end(): Promise<void>;
}

async function cleanPart(part: Part, dryRun: boolean, skip: Skip): Promise<CleanedItem[]> {
  const look = async (): Promise<readonly Leftover[]> => {
    try {
      return await part.find(skip);
    } catch (error) {
      skip(error);
      return [];
    }
  };
  const before = await look();
  if (dryRun || before.every(({ kept }) => kept)) return before.map((item) => cleaned(item, "found"));
  try {
    await part.end();
  } catch (error) {
    skip(error);
  }
  const after = await look();
  const isLeft = (item: Leftover) => after.some(({ kind, what }) => kind === item.kind && what === item.what);
  const isNew = (item: Leftover) =>
    !before.some(({ kind, what }) => kind === item.kind && what === item.what);
  return [
    ...before.map((item) => cleaned(item, isLeft(item) ? "left" : "ended")),
    ...after.filter(isNew).map((item) => cleaned(item, "left")),
  ];
}

function cleaned({ kept, ...item }: Leftover, outcome: CleanedItem["outcome"]): CleanedItem {
  return { ...item, outcome: kept === true ? "kept" : outcome };
}

function chosen(home: string, name: string | undefined): ReturnType<typeof allTeams> {
  if (name === undefined) return allTeams(home);
  const teams = teamsNamed(home, name);
  if (teams.length > 0 || findStrays(home).some(({ dirName }) => dirName === name))
    return { teams, damaged: [] };
  throw new TroupeError("no-team", `no team named ${JSON.stringify(name)}`, {
    kind: "not-found",
    remedy: "without --team all teams are looked at: troupe clean --dry-run",
  });
}

function teamPart(team: LocatedTeam, env: Env): Part {
  return {
    what: team.paths.dirName,
    find: (skip) => findLeftovers(team, findStrays(team.paths.home), env, skip),
    end: async () => void (await endAbandoned(team, { env })),
  };
}

/** Teammates of teams whose files are gone: no record tells of them any more, but their own environment does. */
function orphansOf(strays: readonly Stray[], home: string, only: string | undefined): Part[] {
  const isGone = (dirName: string) =>
    /-[0-9a-f]{6}$/.test(dirName) && !fs.existsSync(path.join(home, "teams", dirName));
  const dirNames = new Set(strays.map(({ dirName }) => dirName));
  return Array.from(dirNames)
    .filter((dirName) => isGone(dirName) && (only === undefined || only === dirName))
    .map((dirName) => {
      const trees = () =>
        isGone(dirName)
          ? findStrays(home)
              .filter((stray) => stray.dirName === dirName)
              .map(({ runId }) => ({ runId, keep: readKept(home) }))
          : [];
      return {
        what: dirName,
        find: () => processesOf(trees()).map((what) => ({ team: dirName, kind: "process", what }) as const),
        end: async () =>
          void (await Promise.all(trees().map((tree) => endTree(tree, { graceMs: defaults.termToKillMs })))),
      };
    });
}

/** Locks that nobody holds or will want again: of starts of teams that are gone, of terminal servers that are. */
function locksPart(home: string, env: Env): Part {
  const root = path.join(home, "locks");
  const find = (): Leftover[] =>
    findLocks(home, env).map((name) => ({
      team: name.startsWith("start-") ? name.slice(6) : "",
      kind: "lock",
      what: path.join(root, name),
    }));
  return {
    what: root,
    find,
    async end() {
      for (const { what } of find()) {
        const lock = await tryLock(what);
        if (lock === undefined) continue;
        // Taken first and moved as a whole: nobody can hold it, and who wants it makes it anew.
        const aside = `${what}.${process.pid}`;
        await fsp.rename(what, aside);
        await fsp.rm(aside, { recursive: true, force: true });
      }
    },
  };
}

function findLocks(home: string, env: Env): string[] {
  const root = path.join(home, "locks");
  const { teams } = allTeams(home);
  const servers = new Set(teams.flatMap((team) => tmuxLocksOf(team, env)));
  const isOver = (name: string): boolean =>
    name.startsWith("start-")
      ? !fs.existsSync(path.join(home, "teams", name.slice(6)))
      : name.startsWith("tmux-") && !servers.has(path.join(root, name));
  return listIfExists(root)
    .filter(isOver)
    .filter((name) => {
      const state = readLock(path.join(root, name));
      return state === undefined || !isHeld(state);
    });
}

/** A team that `run "task"` made, whose name nobody will use again to have it archived. */
function isExpired({ paths, record }: LocatedTeam): boolean {
  const endedAt = Date.parse(readHostRecord(paths)?.endedAt ?? "");
  return /^task-[0-9a-f]{4}$/.test(record.name) && Date.now() - endedAt > archiveDays * 86_400_000;
}

function expiredPart(team: LocatedTeam): Part {
  const { paths } = team;
  const item = { team: paths.dirName, kind: "team", what: paths.root } as const;
  return {
    what: paths.dirName,
    find: () => (fs.existsSync(paths.root) && !isRunning(paths) && isExpired(team) ? [item] : []),
    async end() {
      const lock = await tryLock(paths.lock);
      if (lock === undefined) return;
      try {
        // Somebody may have started and ended it since it was found.
        if (isExpired(team)) await fsp.rm(paths.root, { recursive: true, force: true });
      } finally {
        lock.release();
      }
    },
  };
}
