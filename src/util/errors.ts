/** Exit codes of the command line; see README. `130` and `143` come from signals and are not listed here. */
export const exitCodes = {
  failed: 1,
  usage: 2,
  "not-reached": 3,
  "not-found": 4,
  unavailable: 5,
  limit: 6,
} as const;

/** The kind of a failure; it decides the exit code. */
export type ErrorKind = keyof typeof exitCodes;

/**
 * An expected failure, told to a person. `message` names the subject and the cause, `remedy` what to do about it.
 * `code` is stable and kebab-case, for scripts and tests; `kind` decides the exit code.
 */
export class TroupeError extends Error {
  override readonly name = "TroupeError";
  readonly code: string;
  readonly kind: ErrorKind;
  readonly remedy: string | undefined;

  constructor(
    code: string,
    message: string,
    options: { kind?: ErrorKind; remedy?: string; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.kind = options.kind ?? "failed";
    this.remedy = options.remedy;
  }

  get exitCode(): number {
    return exitCodes[this.kind];
  }
}

/** The `code` of a Node system error (`ENOENT`, ...), or undefined for anything else. */
export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** Any thrown value as one line of text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
