import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { afterEach } from "vitest";
import { bundleScript } from "../helpers/bundle.js";

/** A process that was started, `lines` with what it has printed so far, and its exit code and signal. */
export interface Started {
  readonly child: ChildProcess;
  readonly lines: readonly string[];
  readonly ended: Promise<unknown>;
}

const running = new Set<ChildProcess>();

afterEach(async () => {
  for (const child of running) await kill(child);
});

/** Starts one of the scripts in processes/. */
export function start(script: string, ...args: string[]): Started {
  return startUnder([], script, ...args);
}

/** As `start`, by the program `wrapper` that runs what stands behind its own arguments. */
export function startUnder(wrapper: readonly string[], script: string, ...args: string[]): Started {
  const file = bundleScript(path.join(import.meta.dirname, "processes", `${script}.ts`));
  const [program = "", ...argv] = [...wrapper, process.execPath, file, ...args];
  const child = spawn(program, argv, { stdio: ["ignore", "pipe", "inherit"] });
  running.add(child);
  const lines: string[] = [];
  let unfinished = "";
  child.stdout.on("data", (data: Buffer) => {
    const parts = `${unfinished}${data}`.split("\n");
    unfinished = parts.pop() ?? "";
    lines.push(...parts);
  });
  return { child, lines, ended: once(child, "close").finally(() => running.delete(child)) };
}

/** Kills a process that was started here, if it still runs, and waits for its end. */
export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
}
