/** Variables of another team, of the terminal that the command runs in, or of the program that called it. */
const notForMembers =
  /^(TMUX|TMUX_PANE|ITERM2?_.*|TERM_SESSION_ID|TROUPE_.*|CLAUDECODE|CLAUDE_CODE_(ENTRYPOINT|SSE_PORT|SESSION_ID))$/;

/** The environment that members start from: the caller's, without what would mislead them about where they are. */
export function memberEnv(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && !notForMembers.test(name)) kept[name] = value;
  return kept;
}

/** Credentials of the model: an embedded agent's process has them, what its tools start does not. */
const modelCredentials: readonly string[] = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"];

/**
 * The environment for an agent's tools. A teammate's key stays: its seal says who wrote, no more. The lead's carries
 * authority, which no command that a model wrote may have.
 */
export function toolEnv(
  env: Readonly<Record<string, string>>,
  role: "lead" | "teammate",
): Readonly<Record<string, string>> {
  const hidden = role === "lead" ? [...modelCredentials, "TROUPE_KEY_FILE"] : modelCredentials;
  if (!hidden.some((name) => Object.hasOwn(env, name))) return env;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !hidden.includes(name)));
}
