import fs from "node:fs";
import path from "node:path";
import { ensureDir } from "../../src/util/fs.js";
import { liveness, type ProcessIdentity } from "../../src/util/process-identity.js";
import { waitUntil } from "../../src/util/wait.js";

/** The server runs, and its socket is not there. */
export function isHidden(socket: string, server: ProcessIdentity): boolean {
  return !fs.existsSync(socket) && liveness(server) === "alive";
}

/** Lets a server of ours make its socket anew, as tmux does at this signal. Throws TroupeError where it does not in time. */
export async function revive(socket: string, server: ProcessIdentity): Promise<void> {
  await ensureDir(path.dirname(socket));
  if (liveness(server) !== "alive") return;
  process.kill(server.pid, "SIGUSR1");
  await waitUntil(`the tmux server ${server.pid} makes its socket anew`, () => fs.existsSync(socket), {
    timeoutMs: 5_000,
  });
}
