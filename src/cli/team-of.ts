import { type LocatedTeam, locateTeam } from "../team/locate.js";
import { troupeHome } from "../team/paths.js";
import { oneLine } from "../util/text.js";
import type { Io } from "./io.js";

/**
 * The team that a command line means: `--team`, else TROUPE_TEAM, else by the current directory. Says on stderr which teams
 * were passed over because their records are damaged.
 */
export function teamOf(io: Io, team: string | undefined): LocatedTeam {
  return locateTeam({
    home: troupeHome(io.env),
    cwd: io.cwd,
    env: io.env,
    team,
    onDamaged: ({ error }) =>
      // A stderr that cannot be written to must not keep anybody from the team.
      void io
        .note(`troupe: ${oneLine(error.message)}: passed over; troupe clean says what to do`)
        .catch(() => undefined),
  });
}
