import { killTreesNow, type ProcessTree } from "./process-tree.js";

/** Keeps children from outliving this process. */
export interface ExitGuard {
  /** From here on the tree is killed when this process exits; a later tree of the same key takes the place of it. */
  hold(key: string, tree: ProcessTree): void;
  release(key: string): void;
}

/**
 * A guard that acts when this process exits in any way but by a signal that nobody can catch: at once, without asking.
 * After an ending in order nothing is held any more.
 */
export function createExitGuard(): ExitGuard {
  const trees = new Map<string, ProcessTree>();
  const kill = (): void => killTreesNow([...trees.values()]);
  return {
    hold(key, tree) {
      if (trees.size === 0) process.on("exit", kill);
      trees.set(key, tree);
    },
    release(key) {
      if (trees.delete(key) && trees.size === 0) process.off("exit", kill);
    },
  };
}
