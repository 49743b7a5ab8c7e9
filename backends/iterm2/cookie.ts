import os from "node:os";
import { errnoOf, messageOf, TroupeError } from "../../src/util/errors.js";
import { ExecError, exec } from "../../src/util/exec.js";
import { oneLine } from "../../src/util/text.js";
import type { Credentials } from "./connection.js";

type Env = Readonly<Record<string, string | undefined>>;

/** A person may have to answer a question of macOS first. */
const askMs = 60_000;

/** The cookie that iTerm2 put into the environment, where it was told to. Good for one connection, if for any. */
export function cookieIn(env: Env): Credentials | undefined {
  const { ITERM2_COOKIE: cookie, ITERM2_KEY: key } = env;
  if (!cookie) return undefined;
  return { cookie, ...(key ? { key } : {}) };
}

/**
 * Asks iTerm2 for a cookie by one call of `osascript` (an absolute path). macOS asks the person once whether that may be.
 * Throws TroupeError `iterm2-no-permission` or `iterm2-no-osascript`, or the signal's reason.
 */
export async function requestCookie(osascript: string, env: Env, signal?: AbortSignal): Promise<Credentials> {
  const app = (env["IT2_APP_PATH"] || "iTerm2").replace(/["\\]/g, "\\$&");
  const script = `tell application "${app}" to request cookie and key for app named "troupe"`;
  try {
    const { stdout } = await exec(
      [osascript, "-e", script],
      { cwd: os.tmpdir(), timeoutMs: askMs, maxBytes: 4096 },
      signal,
    );
    const [cookie, key] = stdout.trim().split(/\s+/);
    if (!cookie) throw denied("it gave no cookie");
    return { cookie, ...(key === undefined ? {} : { key }) };
  } catch (error) {
    if (!(error instanceof ExecError)) throw error;
    const { reason, stderr } = error.failure;
    if (reason === "not-started")
      throw new TroupeError("iterm2-no-osascript", `${osascript}, which asks iTerm2, cannot be run`, {
        kind: "unavailable",
        remedy: "use --backend tmux",
        cause: error,
      });
    const why = reason === "timeout" ? "nobody answered its question in time" : oneLine(stderr);
    throw denied(why || oneLine(messageOf(error)), error);
  }
}

function denied(why: string, cause?: unknown): TroupeError {
  return new TroupeError("iterm2-no-permission", `iTerm2 was not to be asked for permission: ${why}`, {
    kind: "unavailable",
    remedy:
      "allow your terminal to control iTerm2 in macOS: System Settings > Privacy & Security > Automation; then try again",
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Whether an error says that a cookie, or the lack of one, was not accepted. */
export function isNotLetIn(error: unknown): boolean {
  return errnoOf(error) === "iterm2-no-permission";
}
