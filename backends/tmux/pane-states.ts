import { setImmediate as nextTurn } from "node:timers/promises";
import { liveness } from "../../src/util/process-identity.js";
import { oneLine } from "../../src/util/text.js";
import type { TeammateRef } from "../types.js";
import type { TmuxClient, TmuxCommand } from "./client.js";
import { showStateIf } from "./commands.js";

/** Longest text of a state in a border, in columns. */
const widest = 40;

/** How many panes one call speaks of: its commands must fit a message of tmux's protocol, 16 KB. */
const mostInOneCall = 50;

/** The states in the borders of teammates' panes, by agent id. */
export interface PaneStates {
  /**
   * Shows `text` behind the name in a teammate's border, now or once its pane is known. One call at a time, with all that has
   * changed meanwhile, the newest text of each; none for what is shown already or where there is no pane any more. Never rejects.
   */
  set(agentId: string, text: string): Promise<void>;
  /** Looks again at which pane a teammate has. */
  refresh(agentId: string): Promise<void>;
  forget(agentId: string): void;
}

export function createPaneStates(
  client: TmuxClient,
  refOf: (agentId: string) => TeammateRef | undefined,
): PaneStates {
  const wanted = new Map<string, string>();
  const shown = new Map<string, { readonly tag: string; readonly text: string }>();
  const changed = new Set<string>();
  let work: Promise<void> | undefined;

  function refresh(agentId: string): Promise<void> {
    changed.add(agentId);
    work ??= showAll().finally(() => {
      work = undefined;
    });
    return work;
  }

  /** What changes in one turn of the event loop goes together: a team that starts or ends changes all at once. */
  async function showAll(): Promise<void> {
    await nextTurn();
    while (changed.size > 0) {
      const agents = [...changed].slice(0, mostInOneCall);
      for (const agentId of agents) changed.delete(agentId);
      const commands = agents.map(commandFor).filter((command) => command !== undefined);
      if (commands.length > 0) await client.run(commands);
    }
  }

  function commandFor(agentId: string): TmuxCommand | undefined {
    const text = wanted.get(agentId);
    const { pane, server, tag } = refOf(agentId) ?? {};
    if (text === undefined || pane === undefined || server === undefined || tag === undefined)
      return undefined;
    const now = shown.get(agentId);
    if ((now?.tag === tag && now.text === text) || liveness(server.process) === "gone") return undefined;
    // Not tried again where it fails: the pane is gone, or the next change will tell.
    shown.set(agentId, { tag, text });
    return showStateIf(pane, server.process.pid, tag, text);
  }

  return {
    set(agentId, text) {
      wanted.set(agentId, oneLine(text, widest));
      return refresh(agentId);
    },
    refresh,
    forget(agentId) {
      wanted.delete(agentId);
      shown.delete(agentId);
    },
  };
}
