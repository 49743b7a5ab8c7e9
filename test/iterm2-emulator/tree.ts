/** What one tab shows, divided. Sizes are in cells; neighbours have a line between them. */
export type Tree<Leaf> = Leaf | Node<Leaf>;

export interface Node<Leaf> {
  readonly vertical: boolean;
  children: Tree<Leaf>[];
}

export interface Area {
  readonly width: number;
  readonly height: number;
}

/** The smallest pane, both ways. */
const least = 2;

/** The panes of one tab. */
export interface TabTree<Leaf extends object> {
  readonly root: Node<Leaf>;
  leaves(): Leaf[];
  areaOf(leaf: Leaf): Area;
  /** Whether both halves of a pane would be large enough. */
  canSplit(target: Leaf, vertical: boolean): boolean;
  /** Halves `target`, which {@link canSplit}. */
  split(target: Leaf, vertical: boolean, before: boolean, leaf: Leaf): void;
  /** Its neighbours in the same node get its space. */
  remove(leaf: Leaf): void;
}

/** A tab of one pane. `changed` is told of the area of each pane that has another. */
export function createTabTree<Leaf extends object>(
  first: Leaf,
  { width, height }: Area,
  changed: (leaf: Leaf, area: Area) => void,
): TabTree<Leaf> {
  const root: Node<Leaf> = { vertical: true, children: [first] };
  const areas = new Map<Tree<Leaf>, Area>();
  const told = new Map<Leaf, Area>();
  const isNode = (tree: Tree<Leaf>): tree is Node<Leaf> => "children" in tree;
  const leavesOf = (tree: Tree<Leaf>): Leaf[] => (isNode(tree) ? tree.children.flatMap(leavesOf) : [tree]);

  function place(tree: Tree<Leaf>, area: Area): void {
    areas.set(tree, area);
    if (isNode(tree)) {
      divide(tree, area);
      return;
    }
    const before = told.get(tree);
    told.set(tree, area);
    if (before?.width !== area.width || before.height !== area.height) changed(tree, area);
  }

  /** Each child keeps its share of the whole. */
  function divide(node: Node<Leaf>, area: Area): void {
    const along = (of: Area): number => (node.vertical ? of.width : of.height);
    const shares = node.children.map((child) => along(areas.get(child) ?? area));
    const sum = shares.reduce((total, share) => total + share, 0);
    const space = along(area) - (node.children.length - 1);
    let rest = space;
    node.children.forEach((child, index) => {
      const last = index === node.children.length - 1;
      const own = last ? rest : Math.max(least, Math.round((space * (shares[index] ?? 0)) / sum));
      rest -= own;
      place(child, node.vertical ? { width: own, height: area.height } : { width: area.width, height: own });
    });
  }

  function parentOf(tree: Tree<Leaf>, node: Node<Leaf> = root): Node<Leaf> | undefined {
    if (node.children.includes(tree)) return node;
    for (const child of node.children) {
      const found = isNode(child) ? parentOf(tree, child) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }

  const areaOf = (leaf: Tree<Leaf>): Area => areas.get(leaf) ?? { width, height };
  const halfOf = (leaf: Leaf, vertical: boolean): number =>
    Math.floor(((vertical ? areaOf(leaf).width : areaOf(leaf).height) - 1) / 2);

  function remove(tree: Tree<Leaf>): void {
    const parent = parentOf(tree);
    if (parent === undefined) return;
    const space = areaOf(parent);
    parent.children = parent.children.filter((child) => child !== tree);
    areas.delete(tree);
    if (parent.children.length === 0) {
      if (parent !== root) remove(parent);
    } else place(parent, space);
  }

  place(root, { width, height });
  return {
    root,
    leaves: () => leavesOf(root),
    areaOf,
    remove,
    canSplit: (target, vertical) => halfOf(target, vertical) >= least,
    split(target, vertical, before, leaf) {
      const parent = parentOf(target);
      const area = areaOf(target);
      const half = halfOf(target, vertical);
      if (parent === undefined || half < least) throw new Error("there is no room in this pane");
      const pair = before ? [leaf, target] : [target, leaf];
      const at = parent.children.indexOf(target);
      for (const one of pair) areas.set(one, vertical ? { ...area, width: half } : { ...area, height: half });
      if (parent.vertical === vertical) parent.children.splice(at, 1, ...pair);
      else parent.children.splice(at, 1, { vertical, children: pair });
      const grown = parent.children[at];
      if (grown !== undefined && isNode(grown)) areas.set(grown, area);
      place(root, areaOf(root));
    },
  };
}
