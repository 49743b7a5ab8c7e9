import fs from "node:fs";
import path from "node:path";
import { errnoOf } from "../../src/util/errors.js";
import type { PaneRow } from "./commands.js";

/** How many panes are remembered: more than are ever opened while one labels itself. */
const remembered = 64;

/**
 * The panes that were opened last on a server, by whichever process, kept beside the lock under which they were opened. A
 * pane labels itself a moment after it is there; until then others would take it for a stranger's.
 */
export function createOpenedPanes(lockDir: string) {
  const file = path.join(lockDir, "opened.json");
  return {
    /** Notes a new pane; to be called while the lock is held. */
    add({ serverPid, pane }: PaneRow, owner: string): void {
      const entries = [...read(file), [keyOf(serverPid, pane), owner]].slice(-remembered);
      try {
        fs.writeFileSync(`${file}.new`, JSON.stringify(entries), { mode: 0o600 });
        fs.renameSync(`${file}.new`, file);
      } catch (error) {
        // A full disk is no reason to give a pane up that is there: see `read`.
        if (errnoOf(error) === undefined) throw error;
      }
    },
    /** The rows, those without a label with the owner that was noted for them. */
    completed(rows: readonly PaneRow[]): readonly PaneRow[] {
      if (rows.every(({ owner }) => owner !== "")) return rows;
      const owners = new Map(read(file));
      return rows.map((row) =>
        row.owner === "" ? { ...row, owner: owners.get(keyOf(row.serverPid, row.pane)) ?? "" } : row,
      );
    },
  };
}

function keyOf(serverPid: number, pane: string): string {
  return `${serverPid} ${pane}`;
}

function read(file: string): [string, string][] {
  try {
    const entries: unknown = JSON.parse(fs.readFileSync(file, "utf8"));
    return Array.isArray(entries)
      ? entries.filter((entry) => Array.isArray(entry) && entry.length === 2)
      : [];
  } catch (error) {
    // Without it a pane opens in a window of its own, as beside a stranger's.
    if (errnoOf(error) !== undefined || error instanceof SyntaxError) return [];
    throw error;
  }
}
