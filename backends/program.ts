import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { TroupeError } from "../src/util/errors.js";
import { identityOf, type ProcessIdentity, readStat, selfIdentity } from "../src/util/process-identity.js";
import { teammateEnvironment } from "./environment.js";
import { type OutputLog, openOutputLog } from "./output-log.js";
import { endTree } from "./process-tree.js";
import type { PtyLibrary } from "./pty.js";
import { openPtyInput, type PtyInput } from "./pty-input.js";
import { writeExit, writeReady } from "./records.js";
import type { ExitRecord, TeammateSpawnConfig } from "./types.js";

/** A teammate's program that runs as a child of this process, in a session and process group of its own. */
export interface Program {
  readonly identity: ProcessIdentity;
  /** Resolves once the program has ended and its exit record is written. Rejects if the record could not be. */
  readonly ended: Promise<Omit<ExitRecord, "at">>;
  /** Where it was put on a pseudo-terminal: types into it. */
  readonly input?: PtyInput;
}

/**
 * Starts `config.launch.argv` without a terminal, or on one of `pty`. What it shows goes to output.log and, by lines,
 * to `onLine`. Writes the ready and exit records. Throws TroupeError `not-started` if the system refuses.
 */
export async function startProgram(
  config: TeammateSpawnConfig,
  options: { readonly pty?: PtyLibrary; readonly onLine?: (line: string) => void },
): Promise<Program> {
  const env = teammateEnvironment(config);
  const log = openOutputLog(config.runDir, options.onLine);
  try {
    const started =
      options.pty === undefined ? startOnPipes(config, env, log) : startOnPty(options.pty, config, env, log);
    const { pid, end, input } = await started;
    const identity = identityOfChild(pid);
    const ended = (async () => {
      const how = await end;
      await writeExit(config.runDir, how);
      return how;
    })();
    // Whoever waits for the end hears of the failure; without a waiter it must not end the host.
    ended.catch(() => undefined);
    try {
      await writeReady(config.runDir, identity);
    } catch (error) {
      await endTree({ root: identity }, { graceMs: 0 });
      throw error;
    }
    return { identity, ended, ...(input === undefined ? {} : { input }) };
  } catch (error) {
    log.close();
    throw error;
  }
}

interface Started {
  readonly pid: number;
  readonly input?: PtyInput;
  readonly end: Promise<Omit<ExitRecord, "at">>;
}

async function startOnPipes(
  config: TeammateSpawnConfig,
  env: Record<string, string>,
  log: OutputLog,
): Promise<Started> {
  const [program = "", ...args] = config.launch.argv;
  let child: ChildProcess;
  try {
    child = spawn(program, args, { cwd: config.cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    child.stdout?.on("data", log.write);
    child.stderr?.on("data", log.write);
    child.on("close", log.close);
    const end = new Promise<Omit<ExitRecord, "at">>((resolve) => {
      child.on("exit", (exitCode, signal) => resolve({ exitCode, signal }));
    });
    if (child.pid === undefined) await once(child, "spawn");
    return { pid: child.pid ?? -1, end };
  } catch (error) {
    throw notStarted(program, error);
  }
}

async function startOnPty(
  pty: PtyLibrary,
  config: TeammateSpawnConfig,
  env: Record<string, string>,
  log: OutputLog,
): Promise<Started> {
  try {
    const terminal = pty.start(config.launch.argv, { cwd: config.cwd, env });
    terminal.onData(log.write);
    const input = openPtyInput(terminal);
    const end = new Promise<Omit<ExitRecord, "at">>((resolve) => {
      terminal.onExit((how) => {
        log.close();
        resolve(how);
      });
    });
    return { pid: terminal.pid, end, input };
  } catch (error) {
    throw notStarted(config.launch.argv[0] ?? "", error);
  }
}

function notStarted(program: string, cause: unknown): TroupeError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new TroupeError("not-started", `${path.basename(program)} could not be started: ${why}`, { cause });
}

/** A child not yet waited for keeps its pid, so this is its identity even if it has ended already. */
function identityOfChild(pid: number): ProcessIdentity {
  const { bootId, pidNamespace } = selfIdentity();
  const startTime = process.platform === "linux" ? readStat(pid)?.startTime : undefined;
  return identityOf(pid) ?? { pid, startTime: startTime ?? "ended", bootId, pidNamespace };
}
