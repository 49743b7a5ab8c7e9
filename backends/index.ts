// What a backend with panes is made of.
export { TroupeError } from "../src/util/errors.js";
export { identityOf, type Liveness, liveness, type ProcessIdentity } from "../src/util/process-identity.js";
export { type BackendChoice, type BackendProbes, type ChoiceInput, chooseBackend } from "./detect.js";
export type { RunEmbedded } from "./embedded.js";
export { runIdOf, runIdVariable } from "./environment.js";
export { createInProcessExecutor, type InProcessOptions } from "./in-process.js";
export { createIterm2Executor, type Iterm2Options } from "./iterm2/executor.js";
export { type LaunchSpec, removeLaunchScript, writeLaunchScript } from "./launch-script.js";
export { lastScreenLines, outputLogOf, readOutputTail } from "./output-log.js";
export { findLaunchProblem, type LaunchProblem } from "./preflight.js";
export { createProbes } from "./probes.js";
export { endTree, type ProcessTree, signalTree } from "./process-tree.js";
export { type ProofOptions, proofOfLife } from "./proof-of-life.js";
export { clearRecords, readExit, readReady } from "./records.js";
export { backends } from "./registry.js";
export { type SpawnFailure, spawnAborted, spawnFailure, spawnLate } from "./spawn-failure.js";
export { createStarting, type Starting } from "./starting.js";
export { createTmuxExecutor, type TmuxExecutor, type TmuxExecutorOptions } from "./tmux/executor.js";
export { tmuxAround } from "./tmux/inside-place.js";
export type {
  Availability,
  BackendType,
  DeliverMessage,
  ExitRecord,
  KillReport,
  Placement,
  ProcessNote,
  SubmitOutcome,
  TeammateExecutor,
  TeammateLaunch,
  TeammateMessage,
  TeammateRef,
  TeammateSpawnConfig,
  TeammateSpawnResult,
} from "./types.js";
