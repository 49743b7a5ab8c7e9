import fs from "node:fs";
import path from "node:path";

/** The repository or worktree that holds `dir` (the nearest directory with `.git`), else `dir` itself; real and absolute. */
export function projectRootOf(dir: string): string {
  const real = fs.realpathSync(dir);
  for (let place = real; ; place = path.dirname(place)) {
    if (fs.existsSync(path.join(place, ".git"))) return place;
    if (path.dirname(place) === place) return real;
  }
}
