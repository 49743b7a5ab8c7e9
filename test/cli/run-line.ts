import { PassThrough, Readable } from "node:stream";
import { failureOf } from "../../src/cli/failure.js";
import type { Io } from "../../src/cli/io.js";
import { main } from "../../src/cli/main.js";

export interface Run {
  readonly exitCode: number;
  /** What was printed on stdout, by whichever way. */
  readonly stdout: string;
  /** What was noted on stderr, without the failure's own lines. */
  readonly stderr: string;
  /** What the command threw. */
  readonly error?: { readonly code: string; readonly message: string; readonly remedy?: string };
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly stdin?: string | Buffer;
  readonly signal?: AbortSignal;
  /** Called with all that was printed so far, after each print. */
  readonly onPrint?: (stdout: string) => void;
  /** The same for what is noted. */
  readonly onNote?: (stderr: string) => void;
}

/** Runs one command line in this process, as the command does but for the exit. */
export async function runLine(argv: readonly string[], options: RunOptions = {}): Promise<Run> {
  const printed: string[] = [];
  const noted: string[] = [];
  const collect = (into: string[]) => {
    const stream = new PassThrough();
    stream.on("data", (chunk: Buffer) => into.push(chunk.toString()));
    return stream;
  };
  const io: Io = {
    env: options.env ?? {},
    cwd: options.cwd ?? "/",
    signal: options.signal ?? new AbortController().signal,
    stdin: Readable.from(options.stdin === undefined ? [] : [Buffer.from(options.stdin)]),
    stdout: collect(printed),
    stderr: collect(noted),
    async print(text) {
      printed.push(text);
      options.onPrint?.(printed.join(""));
    },
    claimFailures: () => undefined,
    async note(line) {
      noted.push(`${line}\n`);
      options.onNote?.(noted.join(""));
    },
  };
  const result = () => ({ stdout: printed.join(""), stderr: noted.join("") });
  try {
    const exitCode = await main(argv, io);
    return { exitCode, ...result() };
  } catch (error) {
    const { exitCode, code, message, remedy } = failureOf(error);
    return { exitCode, ...result(), error: { code, message, ...(remedy === undefined ? {} : { remedy }) } };
  }
}
