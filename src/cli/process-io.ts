import fs from "node:fs";
import { errnoOf, messageOf, TroupeError } from "../util/errors.js";
import { delay } from "../util/wait.js";
import type { Io } from "./io.js";

/** {@link Io} of this process. `stop` is what aborts its signal; `isClaimed` asks whoever claimed failures. */
export type ProcessIo = Io & {
  readonly stop: AbortController;
  isClaimed(error: unknown): boolean;
};

/**
 * The process's own streams. Each, and the abort signal, is made only when a command asks for it: making them costs
 * start-up time. `stop` is aborted when the reader of stdout turns out to be gone.
 */
export function processIo(): ProcessIo {
  let stop: AbortController | undefined;
  const claims: ((error: unknown) => boolean)[] = [];
  const stopper = () => {
    stop ??= new AbortController();
    return stop;
  };
  return {
    env: process.env,
    get stop() {
      return stopper();
    },
    get signal() {
      return stopper().signal;
    },
    get cwd() {
      return workingDirectory();
    },
    get stdin() {
      return process.stdin;
    },
    get stdout() {
      return process.stdout;
    },
    get stderr() {
      return process.stderr;
    },
    async print(text) {
      try {
        await writeAll(1, text, () => stopper().signal);
      } catch (error) {
        if (errnoOf(error) === undefined) throw error;
        if (errnoOf(error) !== "EPIPE") throw unwritable(error);
        stopper().abort(error);
        throw error;
      }
    },
    claimFailures: (claim) => void claims.push(claim),
    isClaimed: (error) => claims.some((claim) => claim(error)),
    note: async (line) => {
      try {
        await writeAll(2, `${line}\n`, () => stopper().signal);
      } catch (error) {
        if (errnoOf(error) !== "EPIPE") throw error;
      }
    },
  };
}

function unwritable(cause: unknown): TroupeError {
  return new TroupeError("stdout", `the output could not be written to stdout: ${messageOf(cause)}`, {
    cause,
    remedy: "mend what the message says (is the disk full?), then look at what was done before you try again",
  });
}

/** Writes everything to a descriptor, which may be a pipe that somebody set to non-blocking and that is full. */
async function writeAll(fd: number, text: string, signal: () => AbortSignal): Promise<void> {
  let rest = Buffer.from(text, "utf8");
  while (rest.length > 0) {
    try {
      rest = rest.subarray(fs.writeSync(fd, rest));
    } catch (error) {
      if (errnoOf(error) !== "EAGAIN") throw error;
      await delay(2, signal());
    }
  }
}

function workingDirectory(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw new TroupeError("no-cwd", "the current directory does not exist any more", {
      cause,
      remedy: "cd to a directory that exists",
    });
  }
}
