import { type ErrorKind, errnoOf, exitCodes, messageOf, TroupeError } from "../util/errors.js";
import { printable } from "../util/text.js";

/** A thrown value as the command line tells it. */
export interface Failure {
  readonly exitCode: number;
  readonly code: string;
  readonly message: string;
  readonly remedy?: string;
  /** For failures nobody foresaw. */
  readonly stack?: string;
}

/** What to tell about a thrown value. TroupeErrors are known by shape: each bundle has its own class. */
export function failureOf(error: unknown): Failure {
  if (isTroupeError(error))
    return {
      exitCode: exitCodes[error.kind],
      code: error.code,
      message: error.message,
      ...(error.remedy === undefined ? {} : { remedy: error.remedy }),
    };
  const errno = errnoOf(error);
  const stack = error instanceof Error && error.stack !== undefined ? { stack: error.stack } : {};
  if (errno !== undefined && /^E[A-Z0-9]+$/.test(errno))
    return {
      exitCode: exitCodes.failed,
      code: errno.toLowerCase(),
      message: messageOf(error),
      remedy: remedies[errno] ?? "mend what the message says, then try again",
      ...stack,
    };
  return {
    exitCode: exitCodes.failed,
    code: "unexpected",
    message: `unexpected failure: ${messageOf(error)}`,
    remedy: "set TROUPE_DEBUG=1 to see where it happened",
    ...stack,
  };
}

/** A failure as text for stderr, or with `json` as a document for stdout. */
export function renderFailure(failure: Failure, options: { json: boolean; debug: boolean }): string {
  const { code, message, remedy, stack } = failure;
  if (options.json) return `${JSON.stringify({ error: { code, message, remedy } })}\n`;
  const lines = [`troupe: ${flat(message)}`];
  // What to do may be several commands, each ready to be typed.
  if (remedy !== undefined)
    lines.push(
      ...printable(remedy)
        .split("\n")
        .map((line) => `  ${line.trim()}`),
    );
  if (options.debug && stack !== undefined) lines.push(printable(stack));
  return `${lines.join("\n")}\n`;
}

/** Whether `error` is a TroupeError, of this bundle or another. */
export function isTroupeError(error: unknown): error is TroupeError {
  if (error instanceof TroupeError) return true;
  if (!(error instanceof Error) || error.name !== "TroupeError") return false;
  const { code, kind } = error as { code?: unknown; kind?: unknown };
  return typeof code === "string" && typeof kind === "string" && (kind as ErrorKind) in exitCodes;
}

/** What to do about failures of the system that no command foresaw. */
const remedies: Readonly<Record<string, string>> = {
  EACCES: "check who owns the file and what its permissions allow",
  EDQUOT: "make room within the quota, then try again",
  EMFILE: "raise the limit of open files (ulimit -n), then try again",
  ENOSPC: "make room on the disk, then try again",
};

function flat(text: string): string {
  return printable(text).replace(/\s*\n\s*/g, " ");
}
