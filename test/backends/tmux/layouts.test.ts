import { describe, expect, it } from "vitest";
import type { Placement } from "../../../backends/types.js";
import { temporaryDirectory } from "../../helpers/temp.js";
import { executorOf, panesOf, start, usersServer } from "./support.js";

/** Panes as `left,top width x height`, the caller's first. */
const format = "#{window_id} #{pane_left},#{pane_top} #{pane_width}x#{pane_height}";

describe("panes in a window of 200 by 50", () => {
  const shown = async (placement: Partial<Placement>, names: readonly string[]) => {
    const dir = temporaryDirectory();
    const tmux = usersServer();
    const executor = executorOf(dir, { kind: "inside", socket: tmux.socket, pane: "%0" });
    const full = { layout: "main-vertical", leadWidth: 40, maxPanesPerWindow: 9, ...placement } as const;
    for (const name of names) await start(executor, dir, name, { placement: full });
    return panesOf(tmux, format);
  };

  it("stand beside the lead, which keeps its share", async () => {
    expect(await shown({ leadWidth: 60 }, ["a", "b"])).toEqual([
      expect.stringMatching(/^@0 0,[01] 120x(49|50)$/),
      expect.stringMatching(/^@0 121,[01] 79x\d+$/),
      expect.stringMatching(/^@0 121,2\d 79x\d+$/),
    ]);
  });

  it("stand in a row", async () => {
    const rows = await shown({ layout: "even-horizontal" }, ["a", "b", "c"]);
    expect(rows.map((row) => /^@0 (\d+),/.exec(row)?.[1])).toEqual(["0", "50", "100", "150"]);
  });

  it("stand in a column", async () => {
    const rows = await shown({ layout: "even-vertical" }, ["a", "b"]);
    expect(rows.map((row) => / 0,\d+ 200x/.test(row))).toEqual([true, true, true]);
  });

  it("stand in a grid", async () => {
    const rows = await shown({ layout: "tiled" }, ["a", "b", "c"]);
    const columns = new Set(rows.map((row) => /^@0 (\d+),/.exec(row)?.[1]));
    expect(Array.from(columns)).toEqual(["0", expect.stringMatching(/^10[01]$/)]);
  });

  it("go on in another window where one is full, and in a grid of their own there", async () => {
    const rows = await shown({ maxPanesPerWindow: 2 }, ["a", "b", "c", "d"]);
    expect(rows.map((row) => row.split(" ")[0])).toEqual(["@0", "@0", "@1", "@1", "@2"]);
  });

  it("go into another window where tmux itself finds no space", async () => {
    const dir = temporaryDirectory();
    const tmux = usersServer();
    const executor = executorOf(dir, { kind: "inside", socket: tmux.socket, pane: "%0" });
    // A column with room for many by our count, which looks at the rows; tmux refuses the next split across it.
    tmux.run("resize-window", "-t", "@0", "-x", "3", "-y", "50");
    for (const name of ["a", "b", "c"]) await start(executor, dir, name);
    expect(panesOf(tmux, "#{window_id} #{@troupe_agent}").slice(1)).toEqual([
      "@0 a@team",
      "@1 b@team",
      "@1 c@team",
    ]);
    expect(tmux.run("show-options", "-w", "-t", "@0")).not.toContain("@troupe_zoomed");
  });
});
