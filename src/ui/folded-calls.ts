import type { AgentEvent } from "../agent/events.js";
import { counted } from "./words.js";

type ToolEnd = Extract<AgentEvent, { type: "tool-end" }>;

/** Consecutive searches and reads, counted: `Searched 3 patterns, read 2 files, last src/a.ts`. */
export interface FoldedCalls {
  /** Takes a call that can be folded; false for any other. */
  add(call: ToolEnd): boolean;
  /** The calls since the last `take`, in one line; undefined if there are none. */
  line(): string | undefined;
  /** {@link line}, and begins anew. */
  take(): string | undefined;
}

/** What a tool counts as when its calls are folded. */
const kinds: Readonly<Record<string, "search" | "read">> = { Grep: "search", Glob: "search", Read: "read" };

export function createFoldedCalls(): FoldedCalls {
  const counts = { search: 0, read: 0 };
  let last = "";
  const line = (): string | undefined => {
    const parts = [
      ...(counts.search > 0 ? [`searched ${counted(counts.search, "pattern")}`] : []),
      ...(counts.read > 0 ? [`read ${counted(counts.read, "file")}`] : []),
    ];
    if (parts.length === 0) return undefined;
    const text = `${parts.join(", ")}, last ${last}`;
    return text.charAt(0).toUpperCase() + text.slice(1);
  };
  return {
    add(call) {
      const kind = Object.hasOwn(kinds, call.tool) ? kinds[call.tool] : undefined;
      if (kind === undefined || call.isError) return false;
      counts[kind] += 1;
      last = call.summary;
      return true;
    },
    line,
    take() {
      const text = line();
      counts.search = 0;
      counts.read = 0;
      return text;
    },
  };
}
