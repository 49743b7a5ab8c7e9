import { type LocatedTeam, locateTeam } from "../team/locate.js";
import { troupeHome } from "../team/paths.js";
import type { Io } from "./io.js";

/** The team that a command line means: `--team`, else TROUPE_TEAM, else by the current directory. */
export function teamOf(io: Io, team: string | undefined): LocatedTeam {
  return locateTeam({ home: troupeHome(io.env), cwd: io.cwd, env: io.env, team });
}
