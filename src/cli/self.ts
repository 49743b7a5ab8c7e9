import fs from "node:fs";

/** The command that runs this very troupe again: for hosts, panes, and the `troupe` that teammates find in PATH. */
export function selfCommand(): readonly string[] {
  return [process.execPath, fs.realpathSync(process.argv[1] ?? "")];
}
