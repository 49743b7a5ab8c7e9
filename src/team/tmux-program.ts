/** The tmux to use: `TROUPE_TMUX` names another one than that in PATH. */
export function tmuxProgram(env: Readonly<Record<string, string | undefined>>): string {
  return env["TROUPE_TMUX"] || "tmux";
}
