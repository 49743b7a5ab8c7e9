/**
 * @typedef {object} Bench
 * @property {string} name
 * @property {string} title
 * @property {number} [rounds] where a round takes the worst of several itself
 * @property {number} runs samples per arm and round, unless the caller says otherwise
 * @property {(place: { command: string, dir: string, runs: number }) => Promise<{
 *   samples: Record<string, number[]>, figures: readonly Figure[] }>} measure one round; `dir` is empty and the bench's own
 */

/**
 * One figure of a round. `atMost` or `atLeast` is its limit, and with `atLeast` more is better.
 * @typedef {object} Figure
 * @property {string} label
 * @property {number} value what the limit is set on, mostly a ratio
 * @property {string} text the absolute figures behind it
 * @property {number} [atMost]
 * @property {number} [atLeast]
 */

/** @typedef {Pick<Figure, "atMost" | "atLeast">} Limit */

/**
 * Runs the arms in turn, `runs` times each after a few that warm up, so that what the machine does otherwise hits all alike.
 * @template {string} Name
 * @param {Record<Name, (run: number) => Promise<number> | number>} arms each gives its duration in milliseconds
 * @param {number} runs
 * @returns {Promise<Record<Name, number[]>>}
 */
export async function interleave(arms, runs) {
  const samples = Object.fromEntries(Object.keys(arms).map((name) => [name, []]));
  for (let run = -Math.ceil(runs / 20); run < runs; run++)
    for (const [name, arm] of Object.entries(arms)) {
      const duration = await arm(run);
      if (run >= 0) samples[name].push(duration);
    }
  return samples;
}

/**
 * How long `work` takes, in milliseconds.
 * @param {() => unknown} work
 */
export async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/**
 * @param {readonly number[]} samples
 * @param {number} share 0.5 for the median
 */
export function quantile(samples, share) {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/**
 * The ratio of the times of two arms at a quantile.
 * @param {string} label
 * @param {readonly number[]} product
 * @param {readonly number[]} floor
 * @param {number} share
 * @param {Limit} [limit]
 * @returns {Figure}
 */
export function compare(label, product, floor, share, limit) {
  const [a, b] = [quantile(product, share), quantile(floor, share)];
  return { label, value: a / b, text: `${a.toFixed(2)} ms / ${b.toFixed(2)} ms`, ...limit };
}

/**
 * How many times as fast the product is, by the median times of the same work.
 * @param {string} label
 * @param {readonly number[]} product
 * @param {readonly number[]} floor
 * @param {Limit} [limit]
 * @returns {Figure}
 */
export function speedup(label, product, floor, limit) {
  const [a, b] = [quantile(product, 0.5), quantile(floor, 0.5)];
  return { label, value: b / a, text: `${a.toFixed(2)} ms, floor ${b.toFixed(2)} ms`, ...limit };
}

/**
 * The worse of two figures with one label.
 * @param {Figure} figure
 * @param {Figure | undefined} other
 */
export function worse(figure, other) {
  if (other === undefined) return figure;
  const isWorse =
    figure.atLeast === undefined ? !(figure.value <= other.value) : !(figure.value >= other.value);
  return isWorse ? figure : other;
}

/** @param {Figure} figure */
export function verdictOn({ value, atMost, atLeast }) {
  if (atMost !== undefined) return verdict(value <= atMost, `at most ${atMost}`);
  if (atLeast !== undefined) return verdict(value >= atLeast, `at least ${atLeast}`);
  return { passed: false, text: "no limit" };
}

/** @param {boolean} kept @param {string} limit */
function verdict(kept, limit) {
  return { passed: !kept, text: `${limit}: ${kept ? "ok" : "MISSED"}` };
}
