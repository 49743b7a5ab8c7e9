import type { Placement } from "../types.js";
import type { TmuxAnswer, TmuxClient } from "./client.js";
import { killPaneIf, listAllPanes, type PaneRow, parseRows } from "./commands.js";
import { tmuxError } from "./place.js";

/** What those who open and close panes of a server in turn know of it, beyond what it shows at each turn. */
export interface KnownPanes {
  /** The panes in an answer that ends in {@link listAllPanes}; none if the server is gone. Throws TroupeError. */
  rowsOf(answer: TmuxAnswer): readonly PaneRow[];
  /** Asks for all panes now. */
  list(): Promise<readonly PaneRow[]>;
  /** Panes with these tags may be open though they were given up, or come yet. */
  doubt(tags: readonly string[]): void;
  /** Whether there are such panes still. */
  isDoubtful(): boolean;
  /** Closes those of them that are among `rows`, all panes of the server; gives the panes that are left. Throws TroupeError. */
  closeDoubtful(rows: readonly PaneRow[]): Promise<readonly PaneRow[]>;
  /** How the last pane was placed, for a window that is arranged anew when one is closed. */
  placement: Placement | undefined;
}

export function createKnownPanes(client: TmuxClient, owner: string): KnownPanes {
  const doubtful = new Set<string>();

  function rowsOf(answer: TmuxAnswer): readonly PaneRow[] {
    if (answer.ok) return parseRows(answer.stdout);
    if (answer.failure === "no-server" || answer.failure === "crashed") return [];
    throw tmuxError(client, answer);
  }

  return {
    placement: undefined,
    rowsOf,
    list: async () => rowsOf(await client.run([listAllPanes()])),
    doubt(tags) {
      for (const tag of tags) doubtful.add(tag);
    },
    isDoubtful: () => doubtful.size > 0,
    async closeDoubtful(rows) {
      const late = rows.filter((row) => row.owner === owner && doubtful.has(row.tag));
      if (late.length === 0) return rows;
      const close = late.map(({ pane, serverPid, tag }) => killPaneIf(pane, serverPid, tag));
      const left = rowsOf(await client.run([...close, listAllPanes()]));
      for (const { tag } of late) doubtful.delete(tag);
      return left;
    },
  };
}
