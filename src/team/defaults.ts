/** Every default of a team, in one table. Times in milliseconds. */
export const defaults = {
  spawnDeadlineMs: 10_000,
  cliSpawnDeadlineMs: 60_000,
  shutdownDeadlineMs: 30_000,
  /** How long a tool may go on when its agent is asked to shut down. */
  toolGraceMs: 1_000,
  termToKillMs: 5_000,
  orphanTimeoutMs: 600_000,
  sweepMs: 10_000,
  paneLookMs: 15_000,
  hostRequestMs: 10_000,
  hostReadyMs: 30_000,
  maxTeammates: 16,
  maxPanesPerWindow: 9,
  leadWidth: 40,
  layout: "main-vertical",
  maxTurns: 100,
  maxTokens: 8_192,
  /** The lead's work counts as done when two looks this far apart agree. */
  doneSettleMs: 200,
} as const;
