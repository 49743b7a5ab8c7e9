// @ts-check
// What is to be known of GNU screen: one session of our own, with a window for each teammate.

/** @import { ProcessIdentity } from "troupe/backends" */

import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { identityOf, outputLogOf, TroupeError } from "troupe/backends";

const run = promisify(execFile);

/**
 * The window that keeps the session while no teammate has one. Screen takes the beginning of a title for the whole, too, so no
 * teammate's title begins like this.
 */
const keeper = "_keeper";

// Titles name windows, so no program may change them. Screen puts the title in place of %t, and starts programs where
// it was started itself.
const settings = `
startup_message off
vbell off
defutf8 on
defdynamictitle off
screen -t ${keeper} /bin/sh -c 'echo "Each teammate has a window: C-a \\" lists them."; exec cat'
deflog on
logfile %t/output.log
logfile flush 1
`;

const windowScript = `echo $$ >"$1.pid"
exec /bin/sh "$PWD/$1/launch.sh"
`;

/**
 * A session that is started with its first window. Its socket and what else it needs are below `dir`, whose path must be
 * short, for sockets. Nobody's settings are read, and nobody's sessions are seen. Every call of screen ends within ten
 * seconds; one that fails throws TroupeError `screen-failed`.
 * @param {{ dir: string, env: Readonly<Record<string, string | undefined>>, program: string }} options
 */
export function openSession({ dir, env, program }) {
  const name = "troupe";
  const sockets = path.join(dir, "sockets");
  const { STY: _, ...outside } = env;
  const own = { TERM: "dumb", ...outside, SCREENDIR: sockets, SYSSCREENRC: "/dev/null" };
  /** @type {Promise<Server> | undefined} */
  let starting;

  /** @typedef {{ readonly socket: string, readonly process: ProcessIdentity }} Server */

  /** The server, told by its socket, whose name begins with its pid. @returns {Server | undefined} */
  function server() {
    if (!fs.existsSync(sockets)) return undefined;
    for (const file of fs.readdirSync(sockets)) {
      const [, pid] = /^(\d+)\.troupe$/.exec(file) ?? [];
      const socket = path.join(sockets, file);
      const process = pid === undefined ? undefined : identityOf(Number(pid));
      if (process !== undefined) return { socket, process };
      // Of a server that was killed: it would be in the way of the next.
      fs.rmSync(socket, { force: true });
    }
    return undefined;
  }

  /**
   * Has screen remove the sockets that nobody listens at: the pid in the name of one may be another process's by now. What it
   * exits with depends on its version and tells nothing.
   */
  async function wipe() {
    if (server() !== undefined) await screen(["-wipe"]).catch(() => undefined);
  }

  async function findOrStart() {
    await wipe();
    return server() ?? start();
  }

  async function start() {
    fs.mkdirSync(sockets, { recursive: true, mode: 0o700 });
    fs.writeFileSync(path.join(dir, "screenrc"), settings, { mode: 0o600 });
    fs.writeFileSync(path.join(dir, "window.sh"), windowScript, { mode: 0o600 });
    await screen(["-c", "screenrc", "-d", "-m", "-U", "-S", name], dir);
    return within(5000, "the session", server);
  }

  /** @param {readonly string[]} args @param {string} [cwd] */
  async function screen(args, cwd) {
    try {
      await run(program, [...args], { env: own, timeout: 10_000, ...(cwd === undefined ? {} : { cwd }) });
    } catch (error) {
      const { stdout, message } = /** @type {Error & { stdout?: string }} */ (error);
      throw new TroupeError("screen-failed", `screen: ${stdout?.trim() || message}`, { cause: error });
    }
  }

  /** A command of screen's, for one window; nothing happens where that is gone. @param {string} title */
  async function command(title, /** @type {string[]} */ ...words) {
    const there = server();
    if (there === undefined) return;
    try {
      await screen(["-S", path.basename(there.socket), "-p", title, "-X", ...words]);
    } catch (error) {
      await wipe();
      if (server() !== undefined) throw error;
    }
  }

  /** What stands for a window beside screen. @param {string} title */
  function forget(title) {
    for (const file of [title, `${title}.pid`]) fs.rmSync(path.join(dir, file), { force: true });
  }

  return {
    server,
    /** Whether a socket is of this session, now or earlier. @param {string | undefined} socket */
    owns: (socket) => socket !== undefined && path.dirname(socket) === sockets,
    attachArgv: () => ["env", `SCREENDIR=${sockets}`, program, "-x", name],
    /** Shows a window to who is attached. @param {string} title */
    select: (title) => command(title, "select", title),

    /**
     * Opens a window that runs `launch.sh` of a run directory, and logs there. Gives the process in it; undefined if that
     * has ended already. Screen itself sees the run directory by a link only, because it reads something into `$` and `%`.
     * Not to be given up between: a window that was asked for comes, and must be known to be closed.
     * @param {string} title @param {string} runDir
     */
    async openWindow(title, runDir) {
      // One session, however many ask for it at once.
      starting ??= findOrStart().finally(() => {
        starting = undefined;
      });
      const { socket, process } = await starting;
      forget(title);
      fs.symlinkSync(runDir, path.join(dir, title));
      fs.writeFileSync(outputLogOf(runDir), "", { flag: "a", mode: 0o600 });
      const words = ["screen", "-t", title, "/bin/sh", "window.sh", title];
      await screen(["-S", path.basename(socket), "-X", ...words]);
      const pid = await within(5000, "the window", () => readPid(path.join(dir, `${title}.pid`)));
      return { server: { socket, process }, terminal: identityOf(pid) };
    },

    /** Closes a window and whatever was made for it. Idempotent. @param {string} title */
    async closeWindow(title) {
      await command(title, "kill");
      forget(title);
    },

    /** Ends the session once no teammate has a window. */
    closeKeeper: () => command(keeper, "kill"),
  };
}

/** @param {string} file */
function readPid(file) {
  const text = fs.existsSync(file) ? fs.readFileSync(file, "utf8") : "";
  return text.endsWith("\n") ? Number(text) : undefined;
}

/**
 * What `look` gives as soon as it gives something.
 * @template T @param {number} ms @param {string} what @param {() => T | undefined} look
 */
async function within(ms, what, look) {
  for (const deadline = Date.now() + ms; Date.now() < deadline; await delay(10)) {
    const found = look();
    if (found !== undefined) return found;
  }
  throw new TroupeError("screen-failed", `screen: ${what} was not there within ${ms} ms`);
}
