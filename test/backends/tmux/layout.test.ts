import { describe, expect, it } from "vitest";
import { type PaneRow, parseRows } from "../../../backends/tmux/commands.js";
import { capacity, teamWindows, windowWithRoom } from "../../../backends/tmux/layout.js";

const row = (window: string, pane: string, owner = "", more: Partial<PaneRow> = {}): PaneRow => ({
  serverPid: 1,
  session: "$0",
  window,
  pane,
  panePid: 2,
  dead: false,
  width: 200,
  height: 50,
  zoomed: false,
  panes: 1,
  owner,
  tag: owner === "" ? "" : "t",
  restore: "",
  ...more,
});
const placement = { layout: "main-vertical", leadWidth: 40, maxPanesPerWindow: 9 } as const;

describe("where a pane goes", () => {
  it("takes only windows that hold nothing but the team and its lead", () => {
    const rows = [
      row("@0", "%0"),
      row("@0", "%1", "me"),
      row("@1", "%2"),
      row("@2", "%3", "me"),
      row("@3", "%4", "other"),
      row("@4", "%5", "me"),
      row("@4", "%6"),
      row("@5", "%7", "me", { tag: "placeholder" }),
    ];
    expect(teamWindows(rows, "me", "%0").map(({ window, panes, lead }) => [window, panes, lead])).toEqual([
      ["@0", 2, "%0"],
      ["@2", 1, undefined],
    ]);
    expect(teamWindows(rows, "me", undefined).map(({ window }) => window)).toEqual(["@2"]);
  });

  it("counts a window once that is linked into two sessions", () => {
    const rows = [row("@0", "%0", "me"), row("@0", "%0", "me", { session: "$1" })];
    expect(teamWindows(rows, "me", undefined)[0]?.panes).toBe(1);
  });

  it.each([
    ["main-vertical", 200, 50, "%0", 9],
    ["main-vertical", 80, 24, "%0", 7],
    ["main-vertical", 200, 50, undefined, 9],
    ["even-vertical", 200, 24, undefined, 6],
    ["even-horizontal", 80, 24, undefined, 4],
    ["tiled", 30, 5, undefined, 1],
    ["windows", 200, 50, undefined, 1],
  ] as const)("fits %s in %dx%d", (layout, width, height, lead, expected) => {
    expect(capacity({ window: "@0", panes: 1, width, height, lead }, { ...placement, layout })).toBe(
      expected,
    );
  });

  it("fills the first window with room, passing over those that refused", () => {
    const windows = [
      { window: "@0", panes: 9, width: 200, height: 50, lead: "%0" },
      { window: "@1", panes: 2, width: 200, height: 50, lead: undefined },
      { window: "@2", panes: 1, width: 200, height: 50, lead: undefined },
    ];
    expect(windowWithRoom(windows, placement, new Set())?.window).toBe("@1");
    expect(windowWithRoom(windows, placement, new Set(["@1"]))?.window).toBe("@2");
    expect(windowWithRoom(windows, placement, new Set(["@1", "@2"]))).toBeUndefined();
  });

  it("passes over lines that are no rows", () => {
    expect(parseRows("hello\n12,$0,@1,%2,34,1,200,50,0,3,me,tag,unset\nzoomed,@1,%2\n,,,\n")).toEqual([
      row("@1", "%2", "me", {
        serverPid: 12,
        panePid: 34,
        dead: true,
        panes: 3,
        tag: "tag",
        restore: "unset",
      }),
    ]);
  });
});
