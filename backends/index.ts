export { type BackendChoice, type BackendProbes, type ChoiceInput, chooseBackend } from "./detect.js";
export type { RunEmbedded } from "./embedded.js";
export { runIdOf, runIdVariable } from "./environment.js";
export { createInProcessExecutor, type InProcessOptions } from "./in-process.js";
export { createIterm2Executor, type Iterm2Options } from "./iterm2/executor.js";
export { outputLogOf } from "./output-log.js";
export { createProbes } from "./probes.js";
export { endTree, type ProcessTree, signalTree } from "./process-tree.js";
export { readExit, readReady } from "./records.js";
export { backends } from "./registry.js";
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
