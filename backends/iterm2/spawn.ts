import fs from "node:fs/promises";
import { errnoOf, messageOf } from "../../src/util/errors.js";
import { identityOf, type ProcessIdentity, selfIdentity } from "../../src/util/process-identity.js";
import { delay } from "../../src/util/wait.js";
import { runIdOf } from "../environment.js";
import { writeLaunchScript } from "../launch-script.js";
import { lastScreenLines, outputLogOf, readOutputTail } from "../output-log.js";
import { findLaunchProblem } from "../preflight.js";
import { endTree } from "../process-tree.js";
import { proofOfLife } from "../proof-of-life.js";
import { clearRecords, readReady } from "../records.js";
import { type SpawnFailure, spawnAborted, spawnFailure } from "../spawn-failure.js";
import type { TeammateRef, TeammateSpawnConfig, TeammateSpawnResult } from "../types.js";
import { type PaneCommand, paneCommand } from "./command.js";
import { tabColour, titleOf } from "./look.js";
import type { Panes } from "./panes.js";
import type { Iterm2Transport, Profile } from "./transport.js";

export interface SpawnOptions {
  readonly transport: Iterm2Transport;
  readonly panes: Panes;
  readonly settleMs: number;
  /** Removes the launch script of a run directory; never rejects. */
  removeScript(runDir: string): Promise<void>;
}

/** How many lines of the screen a failure tells. */
const screenLines = 20;

/** How long, and how often, iTerm2 is asked for the process of a new pane, in milliseconds. */
const pidMs = 2000;
const askEveryMs = 20;

/** The spawn of an iTerm2 executor: script, pane, proof of life, and back to nothing where one of them fails. */
export function createSpawn({ transport, panes, settleMs, removeScript }: SpawnOptions) {
  return async (config: TeammateSpawnConfig, signal?: AbortSignal): Promise<TeammateSpawnResult> => {
    const problem = findLaunchProblem(config);
    if (problem !== undefined) return spawnFailure(problem.code, problem.reason);
    if (signal?.aborted) return spawnAborted(signal);
    const { runDir, agentId, name, colour, placement } = config;
    const tag = runIdOf(runDir);
    let command: PaneCommand | undefined;
    let opened: string | "asked for" | undefined;
    try {
      clearRecords(runDir);
      const script = await writeLaunchScript({ ...config, argv: config.launch.argv });
      command = await paneCommand(script);
      // Made by us, so that nobody else can read it; iTerm2 appends.
      await fs.writeFile(outputLogOf(runDir), "", { flag: "a", mode: 0o600 });
      opened = "asked for";
      const profile = { ...profileFor(command.command, config), ...tabColour(colour) };
      const session = await panes.open({ tag, agentId, profile, look: titleOf(name), placement }, signal);
      opened = session;
      const terminal = await terminalOf(session, config, signal);
      const proof = { settleMs, ...(terminal === undefined ? {} : { terminal }) };
      const outcome = await proofOfLife(config, proof, signal);
      if ("ok" in outcome) return await undo(config, session, terminal, outcome);
      const ref: TeammateRef = { backend: "iterm2", agentId, process: outcome, pane: session, tag, runDir };
      return { ok: true, ref, pid: outcome.pid };
    } catch (error) {
      await clearUp(config, opened);
      if (signal?.aborted) return spawnAborted(signal);
      // A code of ours, or the system's: a full disk, too, is an answer.
      const code = errnoOf(error);
      if (code === undefined) throw error;
      return spawnFailure(code === "iterm2-no-space" ? "no-space" : "backend-failed", messageOf(error));
    } finally {
      await removeScript(runDir);
      await command?.dispose();
    }
  };

  /** The process that iTerm2 has started, or one that is gone where the pane is; undefined where the records tell the rest. */
  async function terminalOf(
    session: string,
    { runDir }: TeammateSpawnConfig,
    signal?: AbortSignal,
  ): Promise<ProcessIdentity | undefined> {
    const deadline = performance.now() + pidMs;
    const gone = { ...selfIdentity(), startTime: "ended" };
    while (performance.now() < deadline && !signal?.aborted && readReady(runDir) === undefined) {
      const values = await transport.getVariables({ session }, ["pid", "session.pid"]);
      if (values === undefined || transport.hasEnded(session)) return gone;
      const pid = values.find((value) => typeof value === "number" && value > 0);
      if (typeof pid === "number") return identityOf(pid) ?? gone;
      await delay(askEveryMs, signal).catch(() => undefined);
    }
    return undefined;
  }

  /** Takes back a start that did not succeed: whatever runs of it, and its pane. */
  async function undo(
    config: TeammateSpawnConfig,
    session: string,
    terminal: ProcessIdentity | undefined,
    failure: SpawnFailure,
  ): Promise<SpawnFailure> {
    const { runDir } = config;
    const shown = await transport.screen(session, screenLines).catch(() => undefined);
    await endWhatRuns(runDir, terminal);
    await panes.close(session, runIdOf(runDir));
    const screen = lastScreenLines(shown?.lines.join("\n") ?? "", screenLines);
    return { ...failure, screen: screen || readOutputTail(runDir, screenLines) };
  }

  /** After a failed call: whether the pane is there is not known, and iTerm2 may not answer. */
  async function clearUp({ runDir }: TeammateSpawnConfig, opened: string | "asked for" | undefined) {
    if (opened === undefined) return;
    await endWhatRuns(runDir, undefined);
    // What failed before may fail again; the first failure is the one that is told.
    if (opened !== "asked for") await panes.close(opened, runIdOf(runDir)).catch(() => undefined);
    await panes.tidy().catch(() => undefined);
  }

  async function endWhatRuns(runDir: string, terminal: ProcessIdentity | undefined): Promise<void> {
    await removeScript(runDir);
    const root = readReady(runDir) ?? terminal;
    const runId = runIdOf(runDir);
    await endTree(root === undefined ? { runId } : { root, runId }, { graceMs: 500 });
  }
}

/** The session's own settings; the rest is as in the person's default profile. */
function profileFor(command: string, { cwd, runDir }: TeammateSpawnConfig): Profile {
  return {
    "Custom Command": "Yes",
    Command: command,
    "Custom Directory": "Yes",
    "Working Directory": cwd,
    // Its last screen stays to be read, and closing it later asks nobody and cannot be undone.
    "Close Sessions On End": 0,
    "Prompt Before Closing 2": 0,
    "Session Close Undo Timeout": 0,
    "Allow Title Setting": false,
    // As it comes, escape sequences included.
    "Automatically Log": true,
    "Logging Style": 0,
    "Log Directory": runDir,
    "Log Filename Format": outputLogOf("."),
  };
}
