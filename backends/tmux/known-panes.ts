import { type ProcessIdentity, sameProcess } from "../../src/util/process-identity.js";
import type { Placement } from "../types.js";
import type { TmuxAnswer, TmuxClient } from "./client.js";
import { killPaneIf, listAllPanes, type PaneRow, parseRows, placeholderTag } from "./commands.js";
import { tmuxError } from "./place.js";

/** What is known of the panes of a server, for those who open and close some in turn. */
export interface KnownPanes {
  /**
   * What this life of the server showed last, with what we opened since: one call less for each turn. `shown` is what it has
   * shown just now, if it has.
   */
  of(server: ProcessIdentity, shown?: readonly PaneRow[]): Promise<readonly PaneRow[]>;
  /** What a call of ours has just shown. */
  set(rows: readonly PaneRow[]): void;
  /** Looks anew the next time. */
  forget(): void;
  /** Adds panes that we have just opened, in their order, with their tags. */
  add(rows: readonly PaneRow[], tags: readonly string[]): void;
  /** The panes in an answer that ends in {@link listAllPanes}; none if the server is gone. Throws TroupeError. */
  rowsOf(answer: TmuxAnswer): readonly PaneRow[];
  /** Asks for all panes now. */
  list(): Promise<readonly PaneRow[]>;
  /** Panes with these tags were asked for in a call that was given up: they may come yet. */
  doubt(tags: readonly string[]): void;
  /** Whether there are such panes still. */
  isDoubtful(): boolean;
  /** Closes what a server that did not answer has opened after all; gives the panes that are left. Throws TroupeError. */
  closeDoubtful(rows: readonly PaneRow[]): Promise<readonly PaneRow[]>;
  /** Where the last pane went. */
  placement: Placement | undefined;
}

export function createKnownPanes(client: TmuxClient, owner: string): KnownPanes {
  let known: readonly PaneRow[] | undefined;
  let seen: ProcessIdentity | undefined;
  const doubtful = new Set<string>();

  function rowsOf(answer: TmuxAnswer): readonly PaneRow[] {
    if (answer.ok) return parseRows(answer.stdout);
    if (answer.failure === "no-server" || answer.failure === "crashed") return [];
    throw tmuxError(client, answer);
  }

  async function list(): Promise<readonly PaneRow[]> {
    return rowsOf(await client.run([listAllPanes()]));
  }

  async function closeDoubtful(rows: readonly PaneRow[]): Promise<readonly PaneRow[]> {
    const late = rows.filter((row) => row.owner === owner && doubtful.has(row.tag));
    if (late.length === 0) return rows;
    const close = late.map(({ pane, serverPid, tag }) => killPaneIf(pane, serverPid, tag));
    const left = rowsOf(await client.run([...close, listAllPanes()]));
    for (const { tag } of late) doubtful.delete(tag);
    return left;
  }

  return {
    placement: undefined,
    rowsOf,
    list,
    closeDoubtful,
    async of(server, shown) {
      if (seen === undefined || !sameProcess(seen, server)) known = undefined;
      seen = server;
      known ??= await closeDoubtful(shown ?? (await list()));
      return known;
    },
    set(rows) {
      known = rows;
    },
    forget() {
      known = undefined;
    },
    add(rows, tags) {
      const ours = rows.map((row, index) => ({ ...row, owner, tag: tags[index] ?? "" }));
      const panes = new Set(ours.map(({ pane }) => pane));
      const others = known?.filter((row) => !panes.has(row.pane) && row.tag !== placeholderTag) ?? [];
      const all = [...others, ...ours];
      const [last] = ours.slice(-1);
      const count = all.filter(({ window }) => window === last?.window).length;
      // Somebody else opened or closed panes meanwhile.
      known = last !== undefined && count !== last.panes ? undefined : all;
    },
    isDoubtful: () => doubtful.size > 0,
    doubt(tags) {
      for (const tag of tags) doubtful.add(tag);
    },
  };
}
