import { errnoOf, messageOf } from "../../src/util/errors.js";
import { identityOf, identityOrEnded } from "../../src/util/process-identity.js";
import { runIdOf } from "../environment.js";
import { writeLaunchScript } from "../launch-script.js";
import { lastScreenLines, outputLogOf, readOutputTail } from "../output-log.js";
import { findLaunchProblem } from "../preflight.js";
import { endTree } from "../process-tree.js";
import { proofOfLife } from "../proof-of-life.js";
import { clearRecords, readReady } from "../records.js";
import { type SpawnFailure, spawnAborted, spawnFailure } from "../spawn-failure.js";
import type { TeammateRef, TeammateSpawnConfig, TeammateSpawnResult } from "../types.js";
import type { TmuxClient } from "./client.js";
import type { PaneRef } from "./close-panes.js";
import { capturePane, type PaneRow } from "./commands.js";
import type { PaneLabel } from "./label.js";
import type { Panes } from "./panes.js";

export interface SpawnOptions {
  readonly client: TmuxClient;
  readonly panes: Panes;
  readonly owner: string;
  readonly settleMs: number;
  /** Something a person should know. */
  readonly onNote?: (text: string) => void;
  /** Removes the launch script of a run directory; never rejects. */
  removeScript(runDir: string): Promise<void>;
}

/** How many lines of the screen a failure tells. */
const screenLines = 20;

/** The spawn of a tmux executor: script, pane, proof of life, and back to nothing where one of them fails. */
export function createSpawn({ client, panes, owner, settleMs, onNote, removeScript }: SpawnOptions) {
  return async (config: TeammateSpawnConfig, signal?: AbortSignal): Promise<TeammateSpawnResult> => {
    const problem = findLaunchProblem(config);
    if (problem !== undefined) return spawnFailure(problem.code, problem.reason);
    if (signal?.aborted) return spawnAborted(signal);
    const { runDir, placement } = config;
    const tag = runIdOf(runDir);
    let opened: PaneRef | "asked for" | undefined;
    try {
      clearRecords(runDir);
      const script = await writeLaunchScript({
        ...config,
        argv: config.launch.argv,
      });
      opened = "asked for";
      const request = { argv: ["/bin/sh", script], label: labelOf(config), placement };
      const { row, server } = await panes.open(request, signal);
      const pane = { pane: row.pane, window: row.window, server };
      opened = pane;
      // Its time begins now: where many start at once, the last must not be late for waiting.
      const proof = { terminal: identityOrEnded(row.panePid), settleMs };
      const outcome = await proofOfLife(config, proof, signal);
      if ("ok" in outcome) return await undo(config, row, pane, outcome);
      const ref: TeammateRef = {
        backend: "tmux",
        agentId: config.agentId,
        process: outcome,
        server: { socket: client.socket, process: server },
        pane: row.pane,
        window: row.window,
        tag,
        runDir,
      };
      return { ok: true, ref, pid: outcome.pid };
    } catch (error) {
      await clearUp(config, opened);
      if (signal?.aborted) return spawnAborted(signal);
      // A code of ours, or the system's: a full disk, too, is an answer.
      const code = errnoOf(error);
      if (code === undefined) throw error;
      return spawnFailure(code === "tmux-no-space" ? "no-space" : "backend-failed", messageOf(error));
    } finally {
      await removeScript(runDir);
    }
  };

  function labelOf({ agentId, team, name, colour, runDir }: TeammateSpawnConfig): PaneLabel {
    return { owner, tag: runIdOf(runDir), agentId, team, name, colour, log: outputLogOf(runDir) };
  }

  /** Takes back a start that did not succeed: whatever runs of it, and its pane. */
  async function undo(
    { runDir }: TeammateSpawnConfig,
    row: PaneRow,
    pane: PaneRef,
    failure: SpawnFailure,
  ): Promise<SpawnFailure> {
    const shown = await client.run([capturePane(row.pane, screenLines)]);
    await removeScript(runDir);
    const root = readReady(runDir) ?? identityOf(row.panePid);
    const runId = runIdOf(runDir);
    await endTree(root === undefined ? { runId } : { root, runId }, { graceMs: 500 });
    await panes.close(pane);
    const screen = shown.ok ? lastScreenLines(shown.stdout, screenLines) : "";
    return { ...failure, screen: screen || readOutputTail(runDir, screenLines) };
  }

  /** After a failed call: whether the pane is there is not known, and the server may not answer. */
  async function clearUp({ runDir }: TeammateSpawnConfig, opened: PaneRef | "asked for" | undefined) {
    if (opened === undefined) return;
    await removeScript(runDir);
    const root = readReady(runDir);
    const runId = runIdOf(runDir);
    await endTree(root === undefined ? { runId } : { root, runId }, { graceMs: 500 });
    if (opened === "asked for") return;
    // The first failure is the one that the spawn is told with.
    await panes.close(opened).catch((error: unknown) => {
      panes.doubt(runId);
      onNote?.(`the pane ${opened.pane} of a failed start may be open still: ${messageOf(error)}`);
    });
  }
}
