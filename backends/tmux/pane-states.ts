import { liveness } from "../../src/util/process-identity.js";
import { oneLine } from "../../src/util/text.js";
import type { TeammateRef } from "../types.js";
import type { TmuxClient } from "./client.js";
import { showStateIf } from "./commands.js";

/** Longest text of a state in a border, in columns. */
const widest = 40;

/** The states in the borders of teammates' panes, by agent id. */
export interface PaneStates {
  /**
   * Shows `text` behind the name in a teammate's border, now or once its pane is known. One call at a time for each pane,
   * the newest text last, and none for what is shown already or where there is no pane any more. Never rejects.
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
  const busy = new Map<string, Promise<void>>();

  function refresh(agentId: string): Promise<void> {
    const work = busy.get(agentId) ?? show(agentId).finally(() => busy.delete(agentId));
    busy.set(agentId, work);
    return work;
  }

  async function show(agentId: string): Promise<void> {
    for (;;) {
      const text = wanted.get(agentId);
      const { pane, server, tag } = refOf(agentId) ?? {};
      if (text === undefined || pane === undefined || server === undefined || tag === undefined) return;
      const now = shown.get(agentId);
      if ((now?.tag === tag && now.text === text) || liveness(server.process) === "gone") return;
      // Not tried again where it fails: the pane is gone, or the next change will tell.
      shown.set(agentId, { tag, text });
      await client.run([showStateIf(pane, server.process.pid, tag, text)]);
    }
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
