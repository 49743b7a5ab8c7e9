/** The oldest tmux that is driven: pane options, `list-panes -f` and `new-session -e` came by then. */
export const oldestTmux = "3.2";

/**
 * Whether the text that `tmux -V` prints names a version that is new enough: `tmux 3.3a`, `tmux 3.2-rc3`, and
 * `tmux openbsd-7.4`, which counts by the release of the system it is part of. `tmux next-3.2` is what came before 3.2,
 * `tmux master` what comes next. Undefined for what is no version at all.
 */
export function isNewEnough(text: string): boolean | undefined {
  const match = /^tmux (?:(openbsd|next)-)?(\d+)\.(\d+)/.exec(text.trim());
  if (match === null) return /^tmux master\b/.test(text.trim()) ? true : undefined;
  const [, kind, major, minor] = match;
  const number = Number(major) * 1000 + Number(minor);
  if (kind === "openbsd") return number >= 6009;
  return kind === "next" ? number > 3002 : number >= 3002;
}
