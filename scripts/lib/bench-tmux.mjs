import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";

/**
 * A tmux server of a bench's own, with one session of 1200x1200 whose first pane, `%0`, waits.
 * @param {string} dir a directory with a short path
 */
export function startServer(dir) {
  const socket = path.join(dir, "s");
  /** @param {readonly string[]} args */
  const tmux = (...args) =>
    execFileSync("tmux", ["-S", socket, "-f", "/dev/null", ...args], { encoding: "utf8" }).trim();
  tmux("new-session", "-d", "-x", "1200", "-y", "1200", "-s", "bench", "exec cat");
  return { socket, tmux, stop: () => tmux("kill-server") };
}

/** @param {string} command dist/bin.cjs @returns {Promise<typeof import("../../backends/index.js")>} */
export function loadBackends(command) {
  return import(pathToFileURL(path.join(path.dirname(command), "backends.js")).href);
}

/** What a trivial program does here: it leaves a file `NAME` in `dir`, then waits. @param {string} dir @param {string} name */
export function trivial(dir, name) {
  return ["/bin/sh", "-c", ': >"$0"; exec sleep 300', path.join(dir, name)];
}

/**
 * Waits until `dir` holds `count` files. Throws after a minute.
 * @param {string} dir @param {number} count
 */
export async function filesIn(dir, count) {
  for (const deadline = Date.now() + 60_000; fs.readdirSync(dir).length < count; await delay(1))
    if (Date.now() > deadline)
      throw new Error(`${fs.readdirSync(dir).length} of ${count} programs were ready`);
}

/** A new directory below `base`. @param {string} base */
export function freshDir(base) {
  const dir = path.join(base, randomBytes(3).toString("hex"));
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
  return dir;
}
