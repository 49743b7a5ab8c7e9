import { createTmuxClient, type TmuxClientOptions } from "./client.js";
import { listAllPanes, parseRows } from "./commands.js";

/** Looks at the panes of one server, again and again. */
export interface PaneTags {
  /**
   * The tags on the panes of the server by pane id, empty for a pane without one; undefined where another server answers than
   * the one with this pid, none, or none in time.
   */
  look(serverPid: number): Promise<ReadonlyMap<string, string> | undefined>;
}

/** Starts nothing; every look is one call of tmux. */
export function openPaneTags(options: TmuxClientOptions): PaneTags {
  const client = createTmuxClient(options);
  return {
    async look(serverPid) {
      const answer = await client.run([listAllPanes()]);
      const rows = answer.ok ? parseRows(answer.stdout) : [];
      if (rows[0]?.serverPid !== serverPid) return undefined;
      return new Map(rows.map(({ pane, tag }) => [pane, tag]));
    },
  };
}
