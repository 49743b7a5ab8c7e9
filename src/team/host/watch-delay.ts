import { monitorEventLoopDelay } from "node:perf_hooks";
import { busyMs, type Stretch, watchStretches } from "../../util/context.js";
import { delay } from "../../util/wait.js";
import type { HostContext } from "./context.js";

const limits = {
  /** How long the members of a process may be kept waiting by one of them before that is told. */
  boundMs: 250,
  everyMs: 1_000,
  /** How long it is looked for who keeps the others waiting, after they were. */
  searchMs: 30_000,
  /** One and the same is told of once in this time. */
  quietMs: 60_000,
  /** Which part of a delay the process must have spent computing for it to be its own doing. */
  leastBusy: 0.7,
} as const;

/** How finely the event loop's delay is measured, in milliseconds: ten wake-ups a second. */
const resolution = 100;

/**
 * Measures how long the event loop of this process is held up, while agents run in it, until the signal is aborted (then it
 * resolves). Once it was, looks for the member whose work it is, which costs too much to be done all the time, and tells of
 * it by name. A process that waits for a processor is no news.
 */
export async function watchDelay(
  context: HostContext,
  signal: AbortSignal,
  {
    boundMs,
    everyMs,
    searchMs,
    quietMs,
    leastBusy,
  }: { readonly [K in keyof typeof limits]: number } = limits,
): Promise<void> {
  const histogram = monitorEventLoopDelay({ resolution });
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
  const look = (busy: number): void => {
    const now = performance.now();
    const held = histogram.max / 1e6 - resolution;
    histogram.reset();
    if (held > boundMs && busy > held * leastBusy) {
      searchedUntil = now + searchMs;
      stopSearch ??= watchStretches(boundMs, note);
    } else if (now > searchedUntil) {
      stopSearch?.();
      stopSearch = undefined;
    }
  };
  try {
    for (let before = busyMs(); !signal.aborted; ) {
      if (hasAgents(context)) histogram.enable();
      else histogram.disable();
      await delay(everyMs, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      const now = busyMs();
      look(now - before);
      before = now;
    }
  } finally {
    stopSearch?.();
    histogram.disable();
  }
}

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
