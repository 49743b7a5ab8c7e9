/** Longest time that a timer can wait. */
const maxDurationMs = 2_147_483_647;

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of `500ms`, `30s`, `1.5m`, `2h`, `1d` or a bare number of seconds; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text);
  if (match === null) return undefined;
  const unit = (match[2] ?? "s") as keyof typeof units;
  const ms = Math.round(Number(match[1]) * units[unit]);
  return ms <= maxDurationMs ? ms : undefined;
}
