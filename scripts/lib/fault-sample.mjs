/**
 * Takes `size` items from `lists`, from each as many as its weight says, and from each evenly over all kinds of calls, so
 * that the few that matter most are not lost among the many reads. The same for the same seed; lists are mixed.
 * @template {{ thread: string, call: string }} T
 * @param {readonly (readonly T[])[]} lists
 * @param {readonly number[]} weights
 * @param {number} size
 * @param {number} seed
 * @returns {T[]}
 */
export function sample(lists, weights, size, seed) {
  const random = createRandom(seed);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const chosen = lists.map((list, place) => {
    const wanted = Math.round((size * (weights[place] ?? 0)) / total);
    return alternating(byKind(shuffled(list, random))).slice(0, wanted);
  });
  return shuffled(chosen.flat(), random);
}

/**
 * At most `most` of each kind of call, spread evenly.
 * @template {{ thread: string, call: string }} T
 * @param {readonly T[]} list
 * @param {number} most
 * @returns {T[]}
 */
export function thinned(list, most) {
  return byKind(list).flatMap((kind) => {
    const step = Math.max(1, kind.length / most);
    return kind.filter((_, n) => Math.floor(n / step) !== Math.floor((n - 1) / step));
  });
}

/** @template {{ thread: string, call: string }} T @param {readonly T[]} list @returns {T[][]} */
function byKind(list) {
  /** @type {Map<string, T[]>} */
  const kinds = new Map();
  for (const item of list) {
    const kind = `${item.thread} ${item.call}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), item]);
  }
  return [...kinds.values()];
}

/** One of each list in turn. @template T @param {readonly (readonly T[])[]} lists @returns {T[]} */
function alternating(lists) {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, place) =>
    lists.flatMap((list) => list.slice(place, place + 1)),
  ).flat();
}

/** @template T @param {readonly T[]} list @param {() => number} random @returns {T[]} */
function shuffled(list, random) {
  const keyed = list.map((item) => ({ item, key: random() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). @param {number} seed */
function createRandom(seed) {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
