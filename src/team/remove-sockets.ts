import fs from "node:fs";
import { errnoOf } from "../util/errors.js";
import type { TeamPaths } from "./paths.js";

/** Removes what is left of a team's sockets when its host has ended; a directory of their own stays while it is in use. */
export function removeSockets(paths: TeamPaths): void {
  fs.rmSync(paths.socket, { recursive: true, force: true });
  if (paths.sockets === paths.run) return;
  try {
    fs.rmdirSync(paths.sockets);
  } catch (error) {
    if (!["ENOENT", "ENOTEMPTY", "EEXIST"].includes(errnoOf(error) ?? "")) throw error;
  }
}
