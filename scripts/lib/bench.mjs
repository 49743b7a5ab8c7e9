/**
 * @typedef {object} Bench
 * @property {string} name
 * @property {string} title
 * @property {number} runs samples per arm and round, unless the caller says otherwise
 * @property {(place: { command: string, dir: string, runs: number }) => Promise<{
 *   samples: Record<string, number[]>, figures: readonly Figure[] }>} measure one round; `dir` is empty and the bench's own
 */

/**
 * @typedef {object} Figure
 * @property {string} label
 * @property {number} ratio product to floor; what a limit is set on
 * @property {string} text the two absolute figures
 * @property {number} [limit]
 */

/**
 * Runs the arms in turn, `runs` times each after one warm-up, so that what the machine does otherwise hits all alike.
 * @template {string} Name
 * @param {Record<Name, (run: number) => Promise<number> | number>} arms each gives its duration in milliseconds
 * @param {number} runs
 * @returns {Promise<Record<Name, number[]>>}
 */
export async function interleave(arms, runs) {
  const samples = Object.fromEntries(Object.keys(arms).map((name) => [name, []]));
  for (let run = 0; run <= runs; run++)
    for (const [name, arm] of Object.entries(arms)) {
      const duration = await arm(run);
      if (run > 0) samples[name].push(duration);
    }
  return samples;
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
 * The ratio of two arms at a quantile.
 * @param {string} label
 * @param {readonly number[]} product
 * @param {readonly number[]} floor
 * @param {number} share
 * @param {number} [limit]
 * @returns {Figure}
 */
export function compare(label, product, floor, share, limit) {
  const [a, b] = [quantile(product, share), quantile(floor, share)];
  return { label, ratio: a / b, text: `${a.toFixed(2)} ms / ${b.toFixed(2)} ms`, limit };
}
