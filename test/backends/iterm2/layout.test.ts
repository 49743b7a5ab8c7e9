import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextDivision } from "../../../backends/iterm2/layout.js";
import { tabColour, titleOf } from "../../../backends/iterm2/look.js";
import type { TermTab } from "../../../backends/iterm2/transport.js";
import type { Placement } from "../../../backends/types.js";

const layouts = ["main-vertical", "tiled", "even-horizontal", "even-vertical", "windows"] as const;

const placementOf = (layout: Placement["layout"], maxPanesPerWindow = 9): Placement => ({
  layout,
  leadWidth: 40,
  maxPanesPerWindow,
});

/** A tab with sessions named like `lead`, `ours1`, `users1`, each with its size. */
function tabOf(
  tab: string,
  sizes: Readonly<Record<string, readonly [width: number, height: number]>>,
): TermTab {
  const sessions = Object.entries(sizes).map(([session, [width, height]]) => ({
    session,
    title: "",
    width,
    height,
  }));
  return { window: "w", tab, index: 0, sessions, zoomed: false };
}

const divide = (tabs: readonly TermTab[], placement: Placement, full: ReadonlySet<string> = new Set()) => {
  const found = nextDivision(tabs, (session) => session.startsWith("ours"), "lead", placement, full);
  return found && `${found.session} ${found.vertical ? "|" : "-"}`;
};

describe("the pane to divide", () => {
  const alone = tabOf("1", { lead: [200, 50] });
  const two = tabOf("1", { lead: [100, 50], ours1: [99, 50] });
  const three = tabOf("1", { lead: [100, 50], ours1: [99, 24], ours2: [99, 25] });

  it.each<[string, TermTab, Placement["layout"], string | undefined]>([
    ["the lead's, for the first", alone, "main-vertical", "lead |"],
    ["a teammate's, for the others", two, "main-vertical", "ours1 -"],
    ["the largest teammate's", three, "main-vertical", "ours2 |"],
    ["the largest of all", three, "tiled", "lead -"],
    ["side by side", two, "even-horizontal", "lead |"],
    ["one above the other", two, "even-vertical", "lead -"],
    ["none", alone, "windows", undefined],
    [
      "the other way, if only that fits",
      tabOf("1", { lead: [9, 9], ours1: [60, 7], ours2: [35, 9] }),
      "tiled",
      "ours1 |",
    ],
    ["none that would be too small", tabOf("1", { lead: [38, 8], ours1: [38, 8] }), "tiled", undefined],
  ])("is %s", (_, tab, layout, expected) => {
    expect(divide([tab], placementOf(layout))).toBe(expected);
  });

  it("is in no tab that a person uses, that is full, or that iTerm2 will not divide", () => {
    const users = tabOf("2", { lead: [100, 50], ours1: [99, 50], users1: [99, 50] });
    const place = placementOf("tiled", 3);
    expect(divide([users, alone], place)).toBe("lead |");
    expect(divide([three], place)).toBe(undefined);
    expect(divide([alone], place, new Set(["1"]))).toBe(undefined);
    expect(divide([{ ...alone, zoomed: true }], place)).toBe(undefined);
    expect(divide([tabOf("3", {})], place)).toBe(undefined);
    expect(divide([tabOf("3", { users1: [200, 50] })], place)).toBe(undefined);
  });

  it("always leaves panes that can be read, and none of a person's is touched", () => {
    const session = fc.tuple(
      fc.constantFrom("lead", "ours1", "ours2", "ours3", "users1"),
      fc.nat(300),
      fc.nat(100),
    );
    const tab = fc.array(session, { maxLength: 5 }).map((all) => {
      return tabOf(
        "1",
        Object.fromEntries(all.map(([name, width, height]) => [name, [width, height] as const])),
      );
    });
    const property = fc.property(
      fc.array(tab),
      fc.constantFrom(...layouts),
      fc.integer(),
      (tabs, layout, most) => {
        const isOurs = (name: string) => name.startsWith("ours");
        const found = nextDivision(tabs, isOurs, "lead", placementOf(layout, most), new Set());
        if (found === undefined) return;
        const { width = 0, height = 0 } =
          found.tab.sessions.find(({ session }) => session === found.session) ?? {};
        expect(found.vertical ? (width - 1) / 2 : (height - 1) / 2).toBeGreaterThanOrEqual(
          found.vertical ? 20 : 4,
        );
        expect(found.tab.sessions.map(({ session }) => session)).not.toContain("users1");
      },
    );
    fc.assert(property);
  });
});

describe("what a pane says of its teammate", () => {
  it("is its name and state, on one line, with nothing that iTerm2 or a terminal would read something into", () => {
    expect(titleOf("scout")).toEqual({ Name: "scout" });
    expect(titleOf("scout", "working")).toEqual({ Name: "scout: working" });
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (name, state) => {
        expect(titleOf(name, state)["Name"]).not.toMatch(/[\\\u0000-\u001f\u007f-\u009f]/);
      }),
    );
  });

  it.each([
    [196, 1, 0, 0],
    [33, 0, 0.529, 1],
    [244, 0.502, 0.502, 0.502],
    [15, 1, 1, 1],
  ])("is in the colour %s of 256", (number, red, green, blue) => {
    const share = { "Red Component": red, "Green Component": green, "Blue Component": blue };
    expect(tabColour(number)).toMatchObject({ "Use Tab Color": true, "Tab Color": share });
  });
});
