import { inbox } from "./cli/commands/inbox.js";
import { send } from "./cli/commands/send.js";
import { failureOf, renderFailure } from "./cli/failure.js";
import { parseFast } from "./cli/parse-fast.js";
import { type ProcessIo, processIo } from "./cli/process-io.js";
import { runCommand } from "./cli/run-command.js";
import { errnoOf } from "./util/errors.js";
import { version } from "./util/version.js";

/** Commands that scripts and hooks call often: this file runs them alone, without the libraries of the others. */
const fastCommands = [send, inbox];

const exitCodeOfSignal = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** How long a command has to clean up after a failure that nobody caught. */
const lastWordsMs = 10_000;

void start(process.argv.slice(2));

async function start(argv: readonly string[]): Promise<void> {
  const io = processIo();
  try {
    process.exitCode = await run(argv, io);
  } catch (error) {
    process.exitCode = await tell(error, argv, io);
  }
  process.exit();
}

async function run(argv: readonly string[], io: ProcessIo): Promise<number> {
  if (process.platform === "win32") {
    await io.note("troupe: does not run on Windows itself; run it inside WSL (Windows Subsystem for Linux)");
    return 1;
  }
  const [name, ...rest] = argv;
  if (name === "--version") {
    await io.print(`${version}\n`);
    return 0;
  }
  const command = fastCommands.find((candidate) => candidate.name === name);
  const raw = command === undefined ? undefined : parseFast(command, rest);
  if (command !== undefined && raw !== undefined) return runCommand(command, raw, io);
  const ending = watchEndings(argv, io);
  const { runAny } = await import("./cli/all-commands.js");
  try {
    const exitCode = await runAny(argv, io);
    return ending.exitCode() ?? exitCode;
  } catch (error) {
    const exitCode = ending.exitCode();
    if (exitCode === undefined) throw error;
    return exitCode;
  } finally {
    await flushed(process.stdout);
  }
}

/**
 * Turns the first signal, the loss of stdout's reader and failures that nobody caught into an abort, which lets the
 * command clean up. A second signal ends the process at once.
 */
function watchEndings(argv: readonly string[], io: ProcessIo): { exitCode(): number | undefined } {
  const { stop } = io;
  let exitCode: number | undefined;
  for (const [signal, code] of Object.entries(exitCodeOfSignal))
    process.on(signal, () => {
      if (exitCode !== undefined) process.exit(code);
      exitCode = code;
      stop.abort(new Error(`ended by ${signal}`));
    });
  process.on("uncaughtException", (error) => {
    if (io.isClaimed(error)) return;
    stop.abort(error);
    setTimeout(() => process.exit(exitCode), lastWordsMs).unref();
    if (errnoOf(error) === "EPIPE" || exitCode !== undefined) return;
    exitCode = failureOf(error).exitCode;
    void tell(error, argv, io);
  });
  process.stdout.on("error", (error) => stop.abort(error));
  process.stderr.on("error", (error) => {
    if (errnoOf(error) !== "EPIPE") stop.abort(error);
  });
  return { exitCode: () => exitCode };
}

/** Tells a failure to whoever called and gives the exit code. A reader that left before the end is no failure. */
async function tell(error: unknown, argv: readonly string[], io: ProcessIo): Promise<number> {
  if (errnoOf(error) === "EPIPE") return 0;
  const failure = failureOf(error);
  const debug = Boolean(process.env["TROUPE_DEBUG"]);
  const note = () => io.note(renderFailure(failure, { json: false, debug }).trimEnd());
  try {
    if (wantsJson(argv)) await io.print(renderFailure(failure, { json: true, debug })).catch(note);
    else await note();
  } catch {
    // Neither stdout nor stderr takes it: the exit code is all that is left to say it.
  }
  return failure.exitCode;
}

/** Judged without the parsers, since what failed may be the parsing itself. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return argv.slice(0, end === -1 ? argv.length : end).includes("--json");
}

function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.writableLength === 0) resolve();
    else stream.write("", () => resolve());
  });
}
