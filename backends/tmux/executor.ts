import fs from "node:fs/promises";
import { messageOf, TroupeError } from "../../src/util/errors.js";
import { liveness, type ProcessIdentity } from "../../src/util/process-identity.js";
import { runIdOf } from "../environment.js";
import { removeLaunchScript } from "../launch-script.js";
import { lastScreenLines, readOutputTail } from "../output-log.js";
import { endTree, type ProcessTree, signalTree } from "../process-tree.js";
import { spawnFailure } from "../spawn-failure.js";
import { createStarting } from "../starting.js";
import type {
  DeliverMessage,
  KillReport,
  SubmitOutcome,
  TeammateExecutor,
  TeammateRef,
  TeammateSpawnResult,
} from "../types.js";
import { capturePane, focusPaneIf } from "./commands.js";
import { openInsidePlace } from "./inside-place.js";
import { openOwnPlace } from "./own-place.js";
import { ownerOf } from "./owner.js";
import { createPaneStates } from "./pane-states.js";
import { createPanes } from "./panes.js";
import { probeTmux } from "./probe.js";
import { createSpawn } from "./spawn.js";
import { createSubmitText } from "./submit-text.js";

export interface TmuxExecutorOptions {
  /** The user's server with the pane that we were called from, or a server of our own. */
  readonly place:
    | {
        readonly kind: "inside";
        readonly socket: string;
        /** The pid of that server, if known: a later one on the same socket is another. */
        readonly serverPid?: number;
        /** Without one, teammates can be adopted and ended but not started. */
        readonly pane?: string;
      }
    | {
        readonly kind: "own";
        /** A directory with a short path, made if missing (0700): `tmux.sock` stands in it. */
        readonly runDir: string;
        /** Reads the user's tmux.conf after our defaults; default true. */
        readonly userConfig?: boolean;
        /** The command of the lead's view, run in the first pane with `env`. */
        readonly leadArgv?: readonly string[];
      };
  /** The team's name, and what tells it from every other team on the machine. */
  readonly team: string;
  readonly teamId: string;
  /** Environment of tmux itself: finds the program, and is what a server of our own starts with. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly deliver: DeliverMessage;
  /** The directory of a lock that everybody uses who opens panes on this server; goes with a server of our own. */
  readonly lockDir: string;
  /** The tmux program; default `tmux`. */
  readonly tmux?: string;
  /** Something a person should know, such as an error in the user's tmux.conf. */
  readonly onNote?: (text: string) => void;
  /** How long an end with a failure still makes the spawn a failed one, in milliseconds; default 150. */
  readonly settleMs?: number;
  /** From TERM to KILL, in milliseconds; default 5000. */
  readonly graceMs?: number;
}

export interface TmuxExecutor extends TeammateExecutor {
  adopt(ref: TeammateRef): Promise<boolean>;
  focus(agentId: string): Promise<void>;
  showState(agentId: string, text: string): Promise<void>;
  capture(agentId: string, lines: number): Promise<string>;
  submitText(agentId: string, text: string, signal?: AbortSignal): Promise<SubmitOutcome>;
  close(): Promise<void>;
  /**
   * Makes the session ready (an own server with its lead's view) without a teammate. Not needed before `spawn`. Throws
   * TroupeError.
   */
  open(): Promise<void>;
  /**
   * The command that shows the session of an own server in a terminal; to be run without `TMUX` in its environment.
   * Undefined inside a user's server, where the panes are before the user already.
   */
  attachCommand(): string[] | undefined;
}

/**
 * Shows teammates in tmux panes. Spawns at once share a tmux call, which opens each pane with a launch script and labels it.
 * Panes are opened without taking the focus, and closed only if they carry our tag.
 */
export function createTmuxExecutor(options: TmuxExecutorOptions): TmuxExecutor {
  const { place: where, team, env, tmux: program = "tmux", graceMs = 5000 } = options;
  const owner = ownerOf(options.teamId);
  const noted = options.onNote === undefined ? {} : { onNote: options.onNote };
  const common = { program, env, ...noted };
  const place =
    where.kind === "inside"
      ? openInsidePlace({ ...common, ...where })
      : openOwnPlace({ ...common, ...where, team, owner });
  const { client } = place;
  const panes = createPanes({ ...noted, place, owner, windowName: team, lockDir: options.lockDir });
  const settleMs = options.settleMs ?? 150;
  const spawn = createSpawn({ ...noted, client, panes, owner, settleMs, removeScript });
  const submitText = createSubmitText({ client, env });
  const lives = new Map<string, TeammateRef>();
  const starting = createStarting();
  const deadServers = new Set<string>();
  const states = createPaneStates(client, (agentId) => lives.get(agentId));

  async function kill(agentId: string, keep: readonly ProcessIdentity[] = []): Promise<KillReport> {
    const runDir = await starting.giveUp(agentId);
    if (lives.has(agentId) || runDir === undefined) return end(agentId, keep);
    return endTree({ runId: runIdOf(runDir), keep }, { graceMs });
  }

  async function end(agentId: string, keep: readonly ProcessIdentity[] = []): Promise<KillReport> {
    const ref = lives.get(agentId);
    if (ref === undefined) return { found: [], ended: [], survivors: [] };
    states.forget(agentId);
    const report = await endTree({ ...treeOf(ref), keep }, { graceMs });
    const closed = await closePane(ref);
    await removeScript(ref.runDir);
    if (closed && report.survivors.length === 0) lives.delete(agentId);
    return report;
  }

  /** False where that fails, which is told: the teammate has ended all the same, and its pane can be closed later. */
  async function closePane({ agentId, pane, window, server, tag }: TeammateRef): Promise<boolean> {
    if (pane === undefined || window === undefined || server === undefined || tag === undefined) return true;
    try {
      await panes.close({ pane, window, server: server.process, tag });
      return true;
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error;
      options.onNote?.(`${agentId} has ended, but its pane ${pane} may be open still: ${messageOf(error)}`);
      return false;
    }
  }

  /** A script that stays is told of; it keeps nothing from starting or ending. */
  async function removeScript(runDir: string): Promise<void> {
    try {
      await removeLaunchScript(runDir);
    } catch (error) {
      options.onNote?.(`a launch script, which holds secrets, could not be removed: ${messageOf(error)}`);
    }
  }

  /** Says once for each server that it has gone without us. */
  function noteDeadServers(): void {
    for (const { server } of lives.values()) {
      if (server === undefined || liveness(server.process) !== "gone") continue;
      const { pid, startTime } = server.process;
      if (deadServers.has(`${pid} ${startTime}`)) continue;
      deadServers.add(`${pid} ${startTime}`);
      options.onNote?.(
        `the tmux server on ${client.socket} (pid ${pid}) has ended, and the team's panes with it`,
      );
    }
  }

  function livenessOf(agentId: string): "alive" | "gone" | "unknown" {
    const root = lives.get(agentId)?.process;
    return root === undefined ? "gone" : liveness(root);
  }

  return {
    type: "tmux",
    isAvailable: () =>
      probeTmux(where.kind === "inside" ? { program, env, inside: where } : { program, env }),
    kill: (agentId) => kill(agentId),
    killExcept: kill,
    isActive: async (agentId) => livenessOf(agentId),
    sendMessage: options.deliver,
    async spawn(config, signal) {
      const { agentId } = config;
      if (!lives.has(agentId) && !starting.has(agentId)) states.forget(agentId);
      if (starting.has(agentId) || livenessOf(agentId) !== "gone")
        return spawnFailure("already-running", `${agentId} runs already`);
      noteDeadServers();
      const start = async (until: AbortSignal): Promise<TeammateSpawnResult> => {
        await end(agentId);
        const result = await spawn(config, until);
        if (!result.ok) return result;
        lives.set(agentId, result.ref);
        void states.refresh(agentId);
        return result;
      };
      return starting.run(config, start, signal);
    },
    async terminate(agentId) {
      const ref = lives.get(agentId);
      return ref !== undefined && signalTree(treeOf(ref), "SIGTERM");
    },
    async adopt(ref) {
      if (ref.backend !== "tmux" || ref.process === undefined || ref.server?.socket !== client.socket)
        return false;
      const alive = liveness(ref.process) !== "gone";
      // The pane of one that has ended is still ours to close.
      const hasPane =
        liveness(ref.server.process) === "alive" &&
        (await panes.list()).some((row) => row.pane === ref.pane && row.tag === ref.tag);
      if (alive || hasPane) lives.set(ref.agentId, ref);
      return alive;
    },
    async focus(agentId) {
      const ref = lives.get(agentId);
      if (ref?.pane === undefined || ref.server === undefined) return;
      if (liveness(ref.server.process) === "gone") return;
      const answer = await client.run([focusPaneIf(ref.pane, ref.server.process.pid, ref.tag)]);
      if (!answer.ok) throw new TroupeError(`tmux-${answer.failure}`, `${agentId}: ${answer.message}`);
    },
    showState(agentId, text) {
      noteDeadServers();
      return states.set(agentId, text);
    },
    async capture(agentId, lines) {
      const ref = lives.get(agentId);
      if (ref === undefined) return "";
      const { pane, server, runDir } = ref;
      if (pane === undefined || server === undefined || liveness(server.process) === "gone")
        return readOutputTail(runDir, lines);
      const shown = await client.run([capturePane(pane, lines)]);
      return shown.ok ? lastScreenLines(shown.stdout, lines) : readOutputTail(runDir, lines);
    },
    submitText: (agentId, text, signal) => submitText(agentId, lives.get(agentId), text, signal),
    open: () => panes.prepare(),
    attachCommand: () => place.attachArgv?.(),
    async close() {
      await panes.tidy();
      // Nobody else opens panes on a server of our own.
      if (await place.close?.()) await fs.rm(options.lockDir, { recursive: true, force: true });
    },
  };
}

function treeOf(ref: TeammateRef): ProcessTree {
  const runId = runIdOf(ref.runDir);
  return ref.process === undefined ? { runId } : { root: ref.process, runId };
}
