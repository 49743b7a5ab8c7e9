import type { FileState } from "./tool.js";

/** What one agent has read, forgetting the least recently used file beyond `limit`. */
export function createFileState(limit = 100): FileState {
  const states = new Map<string, { readonly mtimeMs: number; readonly size: number }>();
  const touch = (realPath: string, state: { readonly mtimeMs: number; readonly size: number }) => {
    states.delete(realPath);
    states.set(realPath, state);
  };
  return {
    get(realPath) {
      const state = states.get(realPath);
      if (state !== undefined) touch(realPath, state);
      return state;
    },
    set(realPath, { mtimeMs, size }) {
      touch(realPath, { mtimeMs, size });
      for (const oldest of states.keys()) {
        if (states.size <= limit) break;
        states.delete(oldest);
      }
    },
  };
}
