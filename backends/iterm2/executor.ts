import { spawnFailure } from "../spawn-failure.js";
import type { Availability, DeliverMessage, TeammateExecutor } from "../types.js";

export interface Iterm2Options {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly deliver: DeliverMessage;
}

/** Whether teammates can be shown in iTerm2. Codes: `not-macos`, `not-in-iterm2`, `iterm2-not-supported`. */
export function probeIterm2(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
): Availability {
  if (platform !== "darwin")
    return {
      available: false,
      code: "not-macos",
      reason: "iTerm2 is a program for macOS",
      remedy: "use --backend tmux",
    };
  if (env["TERM_PROGRAM"] !== "iTerm.app" || !env["ITERM_SESSION_ID"])
    return {
      available: false,
      code: "not-in-iterm2",
      reason: "this is no iTerm2 session",
      remedy: "use --backend tmux",
    };
  return {
    available: false,
    code: "iterm2-not-supported",
    reason: "this version of troupe drives tmux only, not iTerm2",
    remedy: "use --backend tmux; it works in an iTerm2 window",
  };
}

/** The iTerm2 backend: it tells why it cannot be used, and refuses every spawn with that reason. */
export function createIterm2Executor({ env, deliver }: Iterm2Options): TeammateExecutor {
  return {
    type: "iterm2",
    isAvailable: async () => probeIterm2(env),
    async spawn() {
      const { code, reason } = probeIterm2(env);
      return spawnFailure(code, reason);
    },
    sendMessage: deliver,
    terminate: async () => false,
    kill: async () => ({ found: [], ended: [], survivors: [] }),
    isActive: async () => "gone",
    adopt: async () => false,
  };
}
