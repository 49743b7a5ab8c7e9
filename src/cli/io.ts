import type { Readable, Writable } from "node:stream";

/** Everything a command may touch of the process it runs in, so that tests can run it in theirs. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly cwd: string;
  /** Aborted on the first SIGINT, SIGTERM or SIGHUP, and when the reader of stdout has gone. */
  readonly signal: AbortSignal;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: TerminalWritable;
  readonly stderr: TerminalWritable;
  /**
   * Writes to stdout, past the stream: the text has left the process when the promise resolves, and in the usual case
   * already when the call returns. Rejects with `EPIPE` when the reader is gone. Do not mix with `stdout.write`.
   */
  print(text: string): Promise<void>;
  /** Gives errors that nobody caught to `claim` first: where that returns true, they are dealt with. */
  claimFailures(claim: (error: unknown) => boolean): void;
  /** A line for people on stderr, as {@link print}; a stderr that nobody reads is no error. */
  note(line: string): Promise<void>;
}

export type TerminalWritable = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};
