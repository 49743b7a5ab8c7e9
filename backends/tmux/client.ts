import { type ExecFileException, execFile } from "node:child_process";
import { oneLine } from "../../src/util/text.js";

/** Why a tmux call failed, as far as a caller acts on it. */
export type TmuxFailure =
  /** There is no such program. */
  | "missing"
  /** No server listens on the socket. */
  | "no-server"
  /** The server went away during the call. */
  | "crashed"
  /** The socket may not be used by this user. */
  | "refused"
  /** The pane, window or session named is not there. */
  | "no-target"
  | "no-space"
  /** The command line is longer than tmux's protocol takes (16 KB). */
  | "too-long"
  /** The server did not answer in time; whether the commands ran is not known. */
  | "timeout"
  | "other";

/** What a call gave. Commands before the failing one have run, so a failed call can have output too. */
export type TmuxAnswer =
  | { readonly ok: true; readonly stdout: string }
  | { readonly ok: false; readonly failure: TmuxFailure; readonly message: string; readonly stdout: string };

/** One tmux command with its arguments. */
export type TmuxCommand = readonly string[];

/** Talks to one tmux server, every call a process of its own. */
export interface TmuxClient {
  readonly socket: string;
  /**
   * Runs commands in order in one process, the rest not after one that fails. Never throws for what tmux answers. A deadline
   * is for what must not be given up early, as what a server does later with it would not be known.
   */
  run(commands: readonly TmuxCommand[], deadlineMs?: number): Promise<TmuxAnswer>;
  /** The argument vector of such a call, for somebody else to run. */
  argv(commands: readonly TmuxCommand[]): string[];
}

export interface TmuxClientOptions {
  /** The tmux program: a path, or a name looked up in the PATH of `env`. */
  readonly program: string;
  readonly socket: string;
  /** Environment of the calls; a server that one of them starts hands it to every pane. TMUX* is left out. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const defaultDeadlineMs = 5000;

/** How long a server is waited for that did not answer the call before. */
const deafDeadlineMs = 500;

/**
 * A client for the server on `socket`. A server that it starts reads no configuration of the user. One that does not
 * answer costs the first call its deadline; those that follow get half a second until it answers again.
 */
export function createTmuxClient({ program, socket, env }: TmuxClientOptions): TmuxClient {
  const clean = Object.fromEntries(Object.entries(env).filter(([name]) => !/^TMUX(_PANE)?$/.test(name)));
  const argv = (commands: readonly TmuxCommand[]): string[] => [
    program,
    "-u",
    "-S",
    socket,
    "-f",
    "/dev/null",
    ...chain(commands),
  ];
  let deaf = false;
  return {
    socket,
    argv,
    async run(commands, deadlineMs = deaf ? deafDeadlineMs : defaultDeadlineMs) {
      const answer = await call(argv(commands), clean, deadlineMs);
      deaf = !answer.ok && answer.failure === "timeout";
      return answer;
    },
  };
}

/** What `tmux -V` prints. */
export function askTmuxVersion(
  program: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<TmuxAnswer> {
  return call([program, "-V"], env, defaultDeadlineMs);
}

/** Commands as one argument vector. An argument that ends in `;` would end the command. */
function chain(commands: readonly TmuxCommand[]): string[] {
  return commands.flatMap((command, index) => [
    ...(index === 0 ? [] : [";"]),
    ...command.map((argument) => argument.replace(/;$/, "\\;")),
  ]);
}

function call(
  [program = "", ...args]: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  deadlineMs: number,
): Promise<TmuxAnswer> {
  return new Promise((resolve) => {
    const options = { env, timeout: deadlineMs, killSignal: "SIGKILL", maxBuffer: 64 * 1024 * 1024 } as const;
    const failed = (error: ExecFileException, stdout: string, stderr: string): void =>
      resolve({ ok: false, ...classify(program, error, stderr, deadlineMs), stdout });
    try {
      execFile(program, args, options, (error, stdout, stderr) =>
        error === null ? resolve({ ok: true, stdout }) : failed(error, stdout, stderr),
      );
    } catch (error) {
      // What Node finds out before it starts the program, an argument that is too long for one, it throws.
      failed(error as ExecFileException, "", "");
    }
  });
}

function classify(
  program: string,
  error: ExecFileException,
  stderr: string,
  deadlineMs: number,
): { failure: TmuxFailure; message: string } {
  if (error.code === "ENOENT" || error.code === "EACCES")
    return { failure: "missing", message: `${program} cannot be run` };
  if (error.code === "E2BIG") return { failure: "too-long", message: "the command line is too long" };
  if (error.killed) return { failure: "timeout", message: `tmux did not answer within ${deadlineMs} ms` };
  const message = oneLine(stderr) || oneLine(error.message);
  return { failure: patterns.find(([, pattern]) => pattern.test(message))?.[0] ?? "other", message };
}

/** Texts of tmux 3.2 to 3.8. */
const patterns: readonly (readonly [TmuxFailure, RegExp])[] = [
  // A server that loses its last session answers that there is no target any more, and ends.
  [
    "no-server",
    /no server running|no current (target|session)|error connecting to .*\((No such file|Connection refused)/,
  ],
  ["crashed", /server exited|lost server/],
  ["refused", /Permission denied|access not allowed|unsafe permissions/],
  ["no-target", /can't find (pane|window|session)|no such (pane|window|session)/],
  ["no-space", /no space|too small/],
  ["too-long", /command too long|File name too long/],
];
