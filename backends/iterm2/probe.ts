import type { Availability } from "../types.js";
import { openApiTransport } from "./api-transport.js";
import { isIterm2Error } from "./errors.js";
import { itermAround, itermSocket } from "./surroundings.js";

export interface Iterm2Probe {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default: this one. */
  readonly platform?: NodeJS.Platform;
  /** The program that asks iTerm2 for permission; default `/usr/bin/osascript`. */
  readonly osascript?: string;
  /** For each answer, in milliseconds; default 10 s. */
  readonly answerMs?: number;
}

const tmuxInstead = "use --backend tmux";

/**
 * Whether iTerm2 answers for the session that we were called from; it may ask the person for permission. Codes: `ok`,
 * `not-macos`, `not-in-iterm2`, `iterm2-api-off`, `iterm2-no-permission`, `iterm2-no-osascript`, `iterm2-other-instance`,
 * `iterm2-client-too-old`, `iterm2-bad-handshake`, `iterm2-timeout`, …
 */
export async function probeIterm2(probe: Iterm2Probe): Promise<Availability> {
  const { env, platform = process.platform } = probe;
  const around = itermAround(env);
  if (platform !== "darwin") {
    const reason =
      around === undefined
        ? "iTerm2 is a program for macOS"
        : "this iTerm2 session leads to another machine or a container, from which iTerm2's API cannot be reached";
    return { available: false, code: "not-macos", reason, remedy: tmuxInstead };
  }
  if (around === undefined)
    return {
      available: false,
      code: "not-in-iterm2",
      reason: "this is no iTerm2 session",
      remedy: `run the command in an iTerm2 window, or ${tmuxInstead}`,
    };
  const transport = openApiTransport({ ...probe, socket: itermSocket(env) });
  const version = env["TERM_PROGRAM_VERSION"];
  const found = { ...(version === undefined ? {} : { version: `iTerm2 ${version}` }) };
  try {
    const tabs = await transport.list();
    if (tabs.some(({ sessions }) => sessions.some(({ session }) => session === around.session)))
      return { available: true, code: "ok", reason: `inside ${found.version ?? "iTerm2"}`, ...found };
    return {
      available: false,
      code: "iterm2-other-instance",
      reason: "the iTerm2 that answers does not have the session that this was called from",
      remedy: `quit the other iTerm2, or ${tmuxInstead}`,
      ...found,
    };
  } catch (error) {
    if (!isIterm2Error(error)) throw error;
    const { code, message, remedy = tmuxInstead } = error;
    return { available: false, code, reason: message, remedy, ...found };
  } finally {
    transport.disconnect();
  }
}
