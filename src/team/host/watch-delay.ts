import { busyMs, type Stretch, watchStretches } from "../../util/context.js";
import { delay } from "../../util/wait.js";
import type { HostContext } from "./context.js";

const limits = {
  /** How long the members of a process may be kept waiting by one of them before that is told. */
  boundMs: 250,
  everyMs: 100,
  /** How long it is looked for who keeps the others waiting, after they were. */
  searchMs: 30_000,
  /** One and the same is told of once in this time. */
  quietMs: 60_000,
  /** Which part of a delay the process must have spent computing for it to be its own doing. */
  leastBusy: 0.7,
} as const;

/** How often it is looked whether there is anybody to keep waiting, while there is not. */
const idleMs = 1_000;

/**
 * Measures how long the event loop of this process is held up, while agents run in it, until the signal is aborted (then it
 * resolves). Once it was, looks for the member whose work it is, which costs too much to be done all the time, and tells of
 * it by name. A process that waits for a processor is no news.
 */
export async function watchDelay(
  context: HostContext,
  signal: AbortSignal,
  { boundMs, everyMs, searchMs, quietMs, leastBusy }: Limits = limits,
): Promise<void> {
  const told = new Map<string, number>();
  let searchedUntil = 0;
  let stopSearch: (() => void) | undefined;
  const note = ({ identity: { agentId }, ms, busyMs: busy }: Stretch): void => {
    const now = performance.now();
    if (busy < ms * leastBusy || now - (told.get(agentId) ?? -quietMs) < quietMs) return;
    told.set(agentId, now);
    // Outside of the look at it, which nothing may disturb.
    setImmediate(() => tell(context, agentId, ms));
  };
  /** Waits, and gives by how much longer that took, as far as the process computed meanwhile. */
  const heldUp = async (ms: number): Promise<number> => {
    const [began, busy] = [performance.now(), busyMs()];
    await delay(ms, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    const late = performance.now() - began - ms;
    return busyMs() - busy < late * leastBusy ? 0 : late;
  };
  try {
    while (!signal.aborted) {
      const isShared = hasAgents(context);
      const held = await heldUp(isShared ? everyMs : idleMs);
      if (isShared && held > boundMs) {
        searchedUntil = performance.now() + searchMs;
        stopSearch ??= watchStretches(boundMs, note);
      } else if (performance.now() > searchedUntil) {
        stopSearch?.();
        stopSearch = undefined;
      }
    }
  } finally {
    stopSearch?.();
  }
}

type Limits = { readonly [K in keyof typeof limits]: number };

function tell({ hub, roster }: HostContext, agentId: string, ms: number): void {
  const member = roster.all().find((one) => one.agentId === agentId);
  if (member === undefined) return;
  const { name } = member;
  const text = `${name} kept everybody in this process waiting for ${Math.round(ms)} ms at a stretch`;
  hub.emit({ type: "notice", level: "warning", name, text });
}

/** Whether an agent runs in this very process. */
function hasAgents({ roster }: HostContext): boolean {
  return roster
    .all()
    .some(({ kind, state, ref }) => kind === "agent" && state !== "ended" && ref?.process === undefined);
}
