import fs from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { TroupeError } from "../../src/util/errors.js";

/** Characters into which iTerm2 reads nothing, wherever they stand in a command. */
const harmless = /^[A-Za-z0-9_./@%+=:,-]+$/;

/** A command of two words for the profile of a pane, and what takes back what was made for it. */
export interface PaneCommand {
  readonly command: string;
  /** Idempotent. Call it once the script runs, or never will. */
  dispose(): Promise<void>;
}

/**
 * `/bin/sh <script>`. iTerm2 expands a command and splits it at blanks by rules of its own; a path with anything that those
 * could take for something gets to it as a link with a harmless one, in a directory of its own (0700). Throws TroupeError
 * `iterm2-path` where no such directory is to be had.
 */
export async function paneCommand(script: string, temporary = os.tmpdir()): Promise<PaneCommand> {
  if (harmless.test(script)) return { command: `/bin/sh ${script}`, dispose: async () => {} };
  const dir = await fs.mkdtemp(path.join(temporary, "troupe-"));
  const dispose = () => fs.rm(dir, { recursive: true, force: true });
  try {
    const link = path.join(dir, "launch.sh");
    if (!harmless.test(link))
      throw new TroupeError("iterm2-path", `iTerm2 would read something into the path ${script}`, {
        kind: "unavailable",
        remedy: "set TROUPE_HOME to a directory whose path is of letters, digits and _ . / - only",
      });
    await fs.symlink(script, link);
    return { command: `/bin/sh ${link}`, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}
