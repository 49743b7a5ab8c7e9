import { errnoOf, messageOf, TroupeError } from "../../src/util/errors.js";

/** Where the API is switched on, as iTerm2's settings name it. */
const switchOn = "switch it on in iTerm2: Settings > General > Magic > Enable Python API";

/** The API cannot be reached at `socket`, by the system's error. */
export function unreachable(socket: string, error: unknown): TroupeError {
  const code = errnoOf(error);
  if (code === "ENOENT" || code === "ECONNREFUSED")
    return refusal("iterm2-api-off", "iTerm2's API is off", { remedy: switchOn, cause: error });
  if (code === "EACCES" || code === "EPERM")
    return refusal("iterm2-socket-refused", `the API's socket ${socket} may not be used`, {
      remedy: `see whose it is: ls -l '${socket}'; it has to be yours`,
      cause: error,
    });
  return refusal("iterm2-unreachable", `iTerm2's API at ${socket} cannot be reached: ${messageOf(error)}`, {
    remedy: switchOn,
    cause: error,
  });
}

/** The API answered the handshake with an HTTP status other than the one that opens the connection. */
export function handshakeRefused(status: number | undefined): TroupeError {
  switch (status) {
    case 401:
      return refusal("iterm2-no-permission", "iTerm2 does not let troupe use its API", {
        remedy:
          "allow it when iTerm2 asks, or in Settings > General > Magic; and in macOS under Privacy & Security > Automation",
      });
    case 406:
      return refusal("iterm2-client-too-old", "this iTerm2 wants a newer client of its API", {
        remedy: "update troupe, or use --backend tmux",
      });
    case 400:
      return refusal("iterm2-bad-handshake", "iTerm2 does not understand the way troupe calls its API", {
        remedy: "update iTerm2 and troupe, or use --backend tmux",
      });
    default:
      return refusal("iterm2-bad-handshake", `iTerm2's API answers with HTTP ${status ?? "nothing"}`, {
        remedy: "update iTerm2, or use --backend tmux",
      });
  }
}

/** The API did not do or answer something within `ms`; whether it was done is not known. */
export function late(what: string, ms: number): TroupeError {
  return new TroupeError("iterm2-timeout", `iTerm2 did not ${what} within ${ms} ms`, {
    kind: "not-reached",
    remedy: "see whether iTerm2 shows a dialog or hangs",
  });
}

/** The connection ended; whether what was asked last was done is not known. */
export function dropped(): TroupeError {
  return new TroupeError("iterm2-dropped", "the connection to iTerm2's API has ended", {
    kind: "not-reached",
    remedy: "see whether iTerm2 still runs and its API is still on",
  });
}

/** The API answered, and refused what was asked. */
export function answered(what: string, status: string): TroupeError {
  return new TroupeError("iterm2-refused", `iTerm2 refused to ${what}: ${status}`);
}

function refusal(code: string, message: string, options: { remedy: string; cause?: unknown }): TroupeError {
  return new TroupeError(code, message, { kind: "unavailable", ...options });
}

/** Whether an error is one of these. */
export function isIterm2Error(error: unknown): error is TroupeError {
  return error instanceof TroupeError && error.code.startsWith("iterm2-");
}
