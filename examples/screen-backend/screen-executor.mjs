// @ts-check
// A backend for GNU screen: each teammate in a window of a session of the team's own.

/**
 * @import { DeliverMessage, KillReport, ProcessIdentity, TeammateExecutor, TeammateRef, TeammateSpawnConfig,
 *   TeammateSpawnResult } from "troupe/backends"
 */

import {
  clearRecords,
  createStarting,
  endTree,
  findLaunchProblem,
  liveness,
  proofOfLife,
  readOutputTail,
  readReady,
  removeLaunchScript,
  runIdOf,
  signalTree,
  spawnAborted,
  spawnFailure,
  TroupeError,
  writeLaunchScript,
} from "troupe/backends";
import { probeScreen } from "./probe-screen.mjs";
import { openSession } from "./session.mjs";

/**
 * @typedef {object} ScreenExecutorOptions
 * @property {string} dir A directory of the team's own with a short path, made if missing.
 * @property {Readonly<Record<string, string | undefined>>} env The environment of screen itself.
 * @property {DeliverMessage} deliver
 * @property {string} [program] Default `screen`.
 * @property {number} [settleMs] How long an end with a failure still makes a spawn a failed one, in milliseconds; default 150.
 * @property {number} [graceMs] From TERM to KILL, in milliseconds; default 5000.
 * @property {(text: string) => void} [onNote] Something a person should know.
 */

/** @typedef {TeammateRef<"screen">} Ref */

/** @param {ScreenExecutorOptions} options @returns {TeammateExecutor<"screen">} */
export function createScreenExecutor(options) {
  const { dir, env, deliver, program = "screen", settleMs = 150, graceMs = 5000 } = options;
  const session = openSession({ dir, env, program });
  const starting = createStarting();
  /** @type {Map<string, Ref>} */
  const lives = new Map();

  /** @param {TeammateSpawnConfig} config @param {AbortSignal} signal @returns {Promise<TeammateSpawnResult<"screen">>} */
  async function start(config, signal) {
    const { agentId, runDir } = config;
    await end(agentId);
    const problem = findLaunchProblem(config);
    if (problem !== undefined) return spawnFailure(problem.code, problem.reason);
    if (signal.aborted) return spawnAborted(signal);
    const title = titleOf(config);
    /** @type {ProcessIdentity | undefined} */
    let terminal;
    try {
      clearRecords(runDir);
      await writeLaunchScript({ ...config, argv: config.launch.argv });
      const opened = await session.openWindow(title, runDir);
      terminal = opened.terminal;
      const proof = { settleMs, ...(terminal === undefined ? {} : { terminal }) };
      const outcome = await proofOfLife(config, proof, signal);
      if ("ok" in outcome) {
        await takeBack(config, terminal);
        return { ...outcome, screen: readOutputTail(runDir, 20) };
      }
      /** @type {Ref} */
      const ref = {
        backend: "screen",
        agentId,
        process: outcome,
        server: opened.server,
        window: title,
        runDir,
      };
      lives.set(agentId, ref);
      return { ok: true, ref, pid: outcome.pid };
    } catch (error) {
      await takeBack(config, terminal);
      if (signal.aborted) return spawnAborted(signal);
      if (error instanceof TroupeError) return spawnFailure("backend-failed", error.message);
      throw error;
    } finally {
      await removeLaunchScript(runDir);
    }
  }

  /**
   * Undoes a start: the script first, so that nothing can begin any more, then what runs, then the window.
   * @param {TeammateSpawnConfig} config @param {ProcessIdentity | undefined} terminal
   */
  async function takeBack(config, terminal) {
    const { runDir } = config;
    await removeLaunchScript(runDir);
    await endTree(treeOf({ runDir, process: readReady(runDir) ?? terminal }), { graceMs: 500 });
    await closeWindow(titleOf(config));
  }

  /** @param {string} agentId @param {readonly ProcessIdentity[]} keep @returns {Promise<KillReport>} */
  async function end(agentId, keep = []) {
    const ref = lives.get(agentId);
    if (ref === undefined) return { found: [], ended: [], survivors: [] };
    const report = await endTree({ ...treeOf(ref), keep }, { graceMs });
    const closed = await closeWindow(ref.window ?? "");
    // Who is not quite gone stays known, so that the next call goes on.
    if (closed && report.survivors.length === 0) lives.delete(agentId);
    return report;
  }

  /** @param {string} agentId @param {readonly ProcessIdentity[]} keep */
  async function killExcept(agentId, keep) {
    await starting.giveUp(agentId);
    return end(agentId, keep);
  }

  /** A process that has ended is an end; that its window stays is told. @param {string} title */
  async function closeWindow(title) {
    try {
      await session.closeWindow(title);
      return true;
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error;
      options.onNote?.(`a window may be open still: ${error.message}`);
      return false;
    }
  }

  /** @param {string} agentId */
  function livenessOf(agentId) {
    const process = lives.get(agentId)?.process;
    return process === undefined ? "gone" : liveness(process);
  }

  return {
    type: "screen",
    isAvailable: () => probeScreen(program, env),
    sendMessage: deliver,
    isActive: async (agentId) => livenessOf(agentId),
    async spawn(config, signal) {
      const { agentId } = config;
      if (starting.has(agentId) || livenessOf(agentId) !== "gone")
        return spawnFailure("already-running", `${agentId} runs already`);
      return starting.run(config, (until) => start(config, until), signal);
    },
    async terminate(agentId) {
      const ref = lives.get(agentId);
      return ref !== undefined && signalTree(treeOf(ref), "SIGTERM");
    },
    kill: (agentId) => killExcept(agentId, []),
    killExcept,
    async adopt(ref) {
      const { agentId, process, server } = ref;
      if (ref.backend !== "screen" || process === undefined || !session.owns(server?.socket)) return false;
      lives.set(agentId, ref);
      if (liveness(process) !== "gone") return true;
      await end(agentId);
      return false;
    },
    async focus(agentId) {
      const title = lives.get(agentId)?.window;
      if (title !== undefined) await session.select(title);
    },
    // Not by screen's `hardcopy`: it writes one byte for a character, whatever that is.
    async capture(agentId, lines) {
      const ref = lives.get(agentId);
      return ref === undefined ? "" : readOutputTail(ref.runDir, lines);
    },
    attachCommand: () => (session.server() === undefined ? undefined : session.attachArgv()),
    close: () => session.closeKeeper(),
  };
}

/** Letters for people, the run id to be unique. @param {TeammateSpawnConfig} config */
function titleOf({ name, runDir }) {
  return `${name.replace(/[^a-z]/gi, "").slice(0, 20)}.${runIdOf(runDir)}`;
}

/** @param {{ readonly runDir: string, readonly process?: ProcessIdentity | undefined }} life */
function treeOf({ runDir, process }) {
  const runId = runIdOf(runDir);
  return process === undefined ? { runId } : { root: process, runId };
}
