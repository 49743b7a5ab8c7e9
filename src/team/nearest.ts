/**
 * The candidate that was most likely meant by what was typed, or undefined if none is near: the only one that begins with
 * it, else the closest with at most a third of it wrong.
 */
export function nearest(typed: string, candidates: readonly string[]): string | undefined {
  const folded = typed.toLowerCase();
  const begun = candidates.filter((candidate) => candidate.toLowerCase().startsWith(folded));
  if (folded.length >= 2 && begun.length === 1) return begun[0];
  const allowed = Math.max(1, Math.floor(typed.length / 3));
  const ranked = candidates
    .filter((candidate) => Math.abs(candidate.length - typed.length) <= allowed)
    .map((candidate) => ({ candidate, distance: editDistance(folded, candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best !== undefined && best.distance <= allowed ? best.candidate : undefined;
}

/** Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let best = Math.min(at(i - 1, j) + 1, (row[j - 1] ?? 0) + 1, at(i - 1, j - 1) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, at(i - 2, j - 2) + 1);
      row.push(best);
    }
  }
  return at(a.length, b.length);
}
