import { errnoOf, messageOf, TroupeError } from "../../src/util/errors.js";
import { liveness, type ProcessIdentity } from "../../src/util/process-identity.js";
import { runIdOf } from "../environment.js";
import { removeLaunchScript } from "../launch-script.js";
import { lastScreenLines, readOutputTail } from "../output-log.js";
import { endTree, type ProcessTree, signalTree } from "../process-tree.js";
import { spawnFailure } from "../spawn-failure.js";
import { createStarting } from "../starting.js";
import { ownerOf } from "../tmux/owner.js";
import type {
  DeliverMessage,
  KillReport,
  SubmitOutcome,
  TeammateExecutor,
  TeammateRef,
  TeammateSpawnResult,
} from "../types.js";
import { openApiTransport } from "./api-transport.js";
import { titleOf } from "./look.js";
import { createPanes } from "./panes.js";
import { probeIterm2 } from "./probe.js";
import { createSpawn } from "./spawn.js";
import { createSubmitText } from "./submit-text.js";
import { itermAround, itermSocket } from "./surroundings.js";

export interface Iterm2Options {
  /** Names the iTerm2 (`HOME`, `IT2_SUITE`), the session that we were called from, and a cookie, if it has one. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly deliver: DeliverMessage;
  /** What tells the team from every other on the machine. */
  readonly teamId: string;
  /** The directory of a lock that everybody uses who opens panes in this iTerm2. */
  readonly lockDir: string;
  /** Something a person should know, such as a pane that could not be closed. */
  readonly onNote?: (text: string) => void;
  /** How long an end with a failure still makes the spawn a failed one, in milliseconds; default 150. */
  readonly settleMs?: number;
  /** From TERM to KILL, in milliseconds; default 5000. */
  readonly graceMs?: number;
  /** For each answer of iTerm2, in milliseconds; default 10 s. */
  readonly answerMs?: number;
  /** The program that asks iTerm2 for permission; default `/usr/bin/osascript`. */
  readonly osascript?: string;
  /** Default: this one. */
  readonly platform?: NodeJS.Platform;
}

export interface Iterm2Executor extends TeammateExecutor {
  adopt(ref: TeammateRef): Promise<boolean>;
  killExcept(agentId: string, keep: readonly ProcessIdentity[]): Promise<KillReport>;
  focus(agentId: string): Promise<void>;
  showState(agentId: string, text: string): Promise<void>;
  capture(agentId: string, lines: number): Promise<string>;
  submitText(agentId: string, text: string, signal?: AbortSignal): Promise<SubmitOutcome>;
  close(): Promise<void>;
}

/**
 * Shows teammates in panes of iTerm2, by its API, on one connection that is opened when it is needed and anew when it ends;
 * teammates run on meanwhile. Panes are opened beside the session that we were called from, one after the other, without
 * taking the focus, and closed only if they carry our tag.
 */
export function createIterm2Executor(options: Iterm2Options): Iterm2Executor {
  const { env, graceMs = 5000, onNote = () => {} } = options;
  const transport = openApiTransport({ ...options, socket: itermSocket(env) });
  const lead = itermAround(env)?.session;
  const panes = createPanes({ transport, lead, owner: ownerOf(options.teamId), lockDir: options.lockDir });
  const spawn = createSpawn({ transport, panes, settleMs: options.settleMs ?? 150, removeScript });
  const submitText = createSubmitText({ transport });
  const lives = new Map<string, TeammateRef>();
  const states = new Map<string, string>();
  const starting = createStarting();

  async function kill(agentId: string, keep: readonly ProcessIdentity[] = []): Promise<KillReport> {
    const runDir = await starting.giveUp(agentId);
    if (lives.has(agentId) || runDir === undefined) return end(agentId, keep);
    return endTree({ runId: runIdOf(runDir), keep }, { graceMs });
  }

  /** The processes first: a pane can go long before its program does. */
  async function end(agentId: string, keep: readonly ProcessIdentity[] = []): Promise<KillReport> {
    const ref = lives.get(agentId);
    if (ref === undefined) return { found: [], ended: [], survivors: [] };
    states.delete(agentId);
    const report = await endTree({ ...treeOf(ref), keep }, { graceMs });
    const closed = await closePane(ref);
    await removeScript(ref.runDir);
    if (closed && report.survivors.length === 0) lives.delete(agentId);
    return report;
  }

  /** False where it could not be closed: the teammate has ended all the same, and its pane can be closed later. */
  async function closePane({ agentId, pane, tag }: TeammateRef): Promise<boolean> {
    if (pane === undefined || tag === undefined) return true;
    try {
      await panes.close(pane, tag);
      return true;
    } catch (error) {
      const code = errnoOf(error) ?? "";
      if (!code.startsWith("iterm2-") && code !== "pane-not-closed") throw error;
      onNote(`${agentId} has ended, but its pane may be open still: ${messageOf(error)}`);
      // An iTerm2 that is gone, or lets nobody in, has nothing that could be closed later from here.
      return code === "iterm2-api-off";
    }
  }

  /** A script that stays is told of; it keeps nothing from starting or ending. */
  async function removeScript(runDir: string): Promise<void> {
    try {
      await removeLaunchScript(runDir);
    } catch (error) {
      onNote(`a launch script, which holds secrets, could not be removed: ${messageOf(error)}`);
    }
  }

  function livenessOf(agentId: string): "alive" | "gone" | "unknown" {
    const root = lives.get(agentId)?.process;
    return root === undefined ? "gone" : liveness(root);
  }

  /** The name of a teammate with its state; a pane that is gone, or does not answer, shows nothing. */
  async function showLabel(agentId: string): Promise<void> {
    const pane = lives.get(agentId)?.pane;
    const state = states.get(agentId);
    if (pane === undefined || state === undefined) return;
    const name = agentId.slice(0, agentId.lastIndexOf("@"));
    await transport.setProfile(pane, titleOf(name, state)).catch(() => undefined);
  }

  return {
    type: "iterm2",
    isAvailable: () => probeIterm2(options),
    kill: (agentId) => kill(agentId),
    killExcept: kill,
    isActive: async (agentId) => livenessOf(agentId),
    sendMessage: options.deliver,
    async spawn(config, signal) {
      const { agentId } = config;
      if (!lives.has(agentId) && !starting.has(agentId)) states.delete(agentId);
      if (starting.has(agentId) || livenessOf(agentId) !== "gone")
        return spawnFailure("already-running", `${agentId} runs already`);
      const start = async (until: AbortSignal): Promise<TeammateSpawnResult> => {
        await end(agentId);
        const result = await spawn(config, until);
        if (!result.ok) return result;
        lives.set(agentId, result.ref);
        void showLabel(agentId);
        return result;
      };
      return starting.run(config, start, signal);
    },
    async terminate(agentId) {
      const ref = lives.get(agentId);
      return ref !== undefined && signalTree(treeOf(ref), "SIGTERM");
    },
    async adopt(ref) {
      if (ref.backend !== "iterm2" || ref.process === undefined) return false;
      const alive = liveness(ref.process) !== "gone";
      // The pane of one that has ended is still ours to close.
      if (alive || (await hasPane(ref))) lives.set(ref.agentId, ref);
      return alive;
    },
    async focus(agentId) {
      const pane = lives.get(agentId)?.pane;
      if (pane === undefined || (await transport.activate(pane, true))) return;
      throw new TroupeError("pane-gone", `${agentId}: its pane is gone`, { kind: "not-reached" });
    },
    async showState(agentId, text) {
      states.set(agentId, text);
      await showLabel(agentId);
    },
    async capture(agentId, lines) {
      const ref = lives.get(agentId);
      if (ref?.pane === undefined) return "";
      const shown = await transport.screen(ref.pane, Math.max(lines, screenRows)).catch(() => undefined);
      return shown === undefined
        ? readOutputTail(ref.runDir, lines)
        : lastScreenLines(shown.lines.join("\n"), lines);
    },
    submitText: (agentId, text, signal) => submitText(agentId, lives.get(agentId), text, signal),
    async close() {
      await panes.tidy().catch((error: unknown) => onNote(`a pane may be left open: ${messageOf(error)}`));
      transport.disconnect();
    },
  };

  async function hasPane({ pane, tag }: TeammateRef): Promise<boolean> {
    return pane !== undefined && tag !== undefined && panes.has(pane, tag);
  }
}

/** The last lines of a screen may be empty: so many are asked for at least. */
const screenRows = 200;

function treeOf(ref: TeammateRef): ProcessTree {
  const runId = runIdOf(ref.runDir);
  return ref.process === undefined ? { runId } : { root: ref.process, runId };
}
