import fs from "node:fs";
import path from "node:path";
import { errnoOf, messageOf, TroupeError } from "../util/errors.js";
import { ensureDirSync } from "../util/fs.js";
import { isHeld, readLock } from "../util/lock.js";
import { encodeKey, nameKey } from "../util/name-key.js";
import { nearest } from "./nearest.js";
import { type TeamPaths, teamPaths } from "./paths.js";
import { readTeamRecord, type TeamRecord } from "./records.js";

/** A team that was found, with what never changes about it. */
export interface LocatedTeam {
  readonly paths: TeamPaths;
  readonly record: TeamRecord;
}

export interface LocateOptions {
  /** TROUPE_HOME, absolute. */
  readonly home: string;
  /** Absolute; decides where no team is named, and between teams of one name. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The team's name or the name of its directory; default TROUPE_TEAM, else by `cwd`. */
  readonly team?: string | undefined;
  /** Told of every team that is passed over because its record is damaged. One that is asked for by name is an error. */
  readonly onDamaged?: (damaged: DamagedTeam) => void;
}

/** A team whose record cannot be read. */
export interface DamagedTeam {
  readonly paths: TeamPaths;
  readonly error: TroupeError;
}

/**
 * The team that a command means: the one named, else the one of the deepest project root that holds `cwd`; of several the
 * one that runs. Throws TroupeError `no-team` (kind `not-found`) or, with all candidates, `which-team` (kind `usage`).
 */
export function locateTeam(options: LocateOptions): LocatedTeam {
  const { home, cwd, env } = options;
  const name = options.team ?? env["TROUPE_TEAM"] ?? "";
  if (name !== "") return choose(byName(home, name), cwd, `named ${JSON.stringify(name)}`);
  const { teams, damaged } = allTeams(home);
  for (const one of damaged) options.onDamaged?.(one);
  const here = deepest(teams, cwd);
  if (here.length > 0) return choose(here, cwd, `of ${cwd}`);
  throw new TroupeError("no-team", `no team for the directory ${cwd}`, {
    kind: "not-found",
    remedy:
      teams.length === 0
        ? "start one: troupe up, or troupe run"
        : `name one with --team: ${namesOf(teams)}; or start one: troupe up`,
  });
}

/** All teams with this name, or in the directory of this name; empty if there is none. */
export function teamsNamed(home: string, name: string): LocatedTeam[] {
  const dirNames = teamDirNames(home);
  const prefix = encodeKey(nameKey(name));
  const exact = dirNames.filter((dirName) => dirName === name);
  return existing(
    home,
    exact.length > 0 ? exact : dirNames.filter((dirName) => dirName.slice(0, -7) === prefix),
  );
}

/** All teams, and apart from them those whose records cannot be read. */
export function allTeams(home: string): {
  readonly teams: readonly LocatedTeam[];
  readonly damaged: readonly DamagedTeam[];
} {
  const teams: LocatedTeam[] = [];
  const damaged: DamagedTeam[] = [];
  for (const dirName of teamDirNames(home)) {
    try {
      teams.push(...existing(home, [dirName]));
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error;
      damaged.push({ paths: teamPaths(home, dirName), error });
    }
  }
  return { teams, damaged };
}

/** Whether a host holds the team right now. */
export function isRunning(paths: TeamPaths): boolean {
  const lock = readLock(paths.lock);
  return lock !== undefined && isHeld(lock);
}

/** Makes sure that TROUPE_HOME is a directory we can write to; creates it (0700). TroupeError `bad-home` otherwise. */
export function ensureHome(home: string): void {
  try {
    ensureDirSync(home);
    fs.accessSync(home, fs.constants.W_OK | fs.constants.X_OK);
  } catch (cause) {
    throw badHome(home, cause);
  }
}

/** A failure at TROUPE_HOME, told with what to do about it. */
export function badHome(home: string, cause: unknown): TroupeError {
  const code = errnoOf(cause);
  const why =
    code === "ENOTDIR" || code === "EEXIST" ? "it is not a directory" : `cannot be used: ${messageOf(cause)}`;
  return new TroupeError("bad-home", `TROUPE_HOME ${home}: ${why}`, {
    cause,
    remedy: "set TROUPE_HOME to a directory of yours on a local disk",
  });
}

function teamDirNames(home: string): string[] {
  try {
    return fs
      .readdirSync(path.join(home, "teams"))
      .filter((name) => /-[0-9a-f]{6}$/.test(name))
      .sort();
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw badHome(home, error);
  }
}

function byName(home: string, name: string): LocatedTeam[] {
  const found = teamsNamed(home, name);
  if (found.length > 0) return found;
  const { teams } = allTeams(home);
  const near = nearest(
    name,
    teams.map((team) => team.record.name),
  );
  const start = "start one: troupe up, or troupe run";
  const list = teams.length === 0 ? start : `teams: ${namesOf(teams)}`;
  throw new TroupeError("no-team", `no team named ${JSON.stringify(name)}`, {
    kind: "not-found",
    remedy: near === undefined ? list : `did you mean ${near}?`,
  });
}

function namesOf(teams: readonly LocatedTeam[]): string {
  return [...new Set(teams.map((team) => team.record.name))].join(", ");
}

/** The teams among `dirNames` that have a record: one that is just being made or taken away has none. */
function existing(home: string, dirNames: readonly string[]): LocatedTeam[] {
  return dirNames.flatMap((dirName) => {
    const paths = teamPaths(home, dirName);
    return fs.existsSync(paths.teamRecord) ? { paths, record: checkedRecord(paths) } : [];
  });
}

/** The record, with what every command relies on. Throws TroupeError `bad-record` or `newer-record`. */
function checkedRecord(paths: TeamPaths): TeamRecord {
  let record: Partial<TeamRecord>;
  try {
    record = readTeamRecord(paths);
  } catch (error) {
    if (error instanceof TroupeError || errnoOf(error) === undefined) throw error;
    throw badRecord(paths, messageOf(error), error);
  }
  const { name, projectRoot, backend } = record;
  if (typeof name === "string" && typeof projectRoot === "string" && typeof backend?.type === "string")
    return record as TeamRecord;
  throw badRecord(paths, `${paths.teamRecord} is no record of a team`);
}

function badRecord({ root }: TeamPaths, message: string, cause?: unknown): TroupeError {
  return new TroupeError("bad-record", message, {
    cause,
    remedy: `mend it, or move the whole directory away: ${root}`,
  });
}

/** The teams whose project root, or own directory (worktrees), holds `cwd`; of nested roots the deepest. */
function deepest(teams: readonly LocatedTeam[], cwd: string): LocatedTeam[] {
  const place = realPath(cwd);
  const depth = (team: LocatedTeam) =>
    Math.max(
      ...[team.record.projectRoot, team.paths.root].map((root) => {
        const real = realPath(root);
        return place === real || place.startsWith(real.endsWith(path.sep) ? real : real + path.sep)
          ? real.length
          : -1;
      }),
    );
  const ranked = teams.map((team) => ({ team, depth: depth(team) })).filter((entry) => entry.depth >= 0);
  const best = Math.max(...ranked.map((entry) => entry.depth));
  return ranked.filter((entry) => entry.depth === best).map((entry) => entry.team);
}

function choose(found: readonly LocatedTeam[], cwd: string, subject: string): LocatedTeam {
  const here = found.length > 1 ? deepest(found, cwd) : [];
  const candidates = here.length > 0 ? here : found;
  const running = candidates.length > 1 ? candidates.filter((team) => isRunning(team.paths)) : [];
  const [only, ...others] = running.length > 0 ? running : candidates;
  if (only !== undefined && others.length === 0) return only;
  const list = candidates.map((team) => `${team.paths.dirName} (${team.record.projectRoot})`);
  throw new TroupeError("which-team", `${candidates.length} teams ${subject}: ${list.join(", ")}`, {
    kind: "usage",
    remedy: `say which: --team ${candidates[0]?.paths.dirName ?? "NAME"}`,
  });
}

function realPath(place: string): string {
  try {
    return fs.realpathSync(place);
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES"].includes(errnoOf(error) ?? "")) return path.resolve(place);
    throw error;
  }
}
