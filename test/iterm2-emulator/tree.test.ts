import fc from "fast-check";
import { expect, it } from "vitest";
import { createTabTree, type Tree } from "./tree.js";

interface Leaf {
  readonly id: number;
}

it("panes fill their tab, none is too small, and each is told of its size", () => {
  const step = fc.record({
    remove: fc.boolean(),
    at: fc.nat(),
    vertical: fc.boolean(),
    before: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const told = new Map<Leaf, { width: number; height: number }>();
      const first: Leaf = { id: 0 };
      const tree = createTabTree(first, { width: 80, height: 24 }, (leaf, area) => told.set(leaf, area));
      let id = 0;
      for (const { remove, at, vertical, before } of steps) {
        const leaves = tree.leaves();
        const target = leaves[at % leaves.length]!;
        if (remove && leaves.length > 1) tree.remove(target);
        else if (tree.canSplit(target, vertical)) tree.split(target, vertical, before, { id: ++id });
        expect(sizeOf(tree.root, tree.areaOf)).toEqual({ width: 80, height: 24 });
        for (const leaf of tree.leaves()) {
          expect(told.get(leaf)).toEqual(tree.areaOf(leaf));
          expect(Math.min(tree.areaOf(leaf).width, tree.areaOf(leaf).height)).toBeGreaterThanOrEqual(2);
        }
      }
    }),
  );
});

/** What the panes of a node take together, with the lines between them; throws where they do not fit each other. */
function sizeOf(
  tree: Tree<Leaf>,
  areaOf: (leaf: Leaf) => { readonly width: number; readonly height: number },
): { width: number; height: number } {
  if (!("children" in tree)) return { ...areaOf(tree) };
  const sizes = tree.children.map((child) => sizeOf(child, areaOf));
  const [across, along] = tree.vertical ? (["height", "width"] as const) : (["width", "height"] as const);
  expect(new Set(sizes.map((size) => size[across])).size).toBe(1);
  const total = sizes.reduce((sum, size) => sum + size[along] + 1, -1);
  return { [across]: sizes[0]![across], [along]: total } as { width: number; height: number };
}
