import path from "node:path";

type Env = Readonly<Record<string, string | undefined>>;

/** The iTerm2 session that a program was started in, as its environment tells; undefined outside of iTerm2. */
export function itermAround(env: Env): { readonly session: string } | undefined {
  if (env["TERM_PROGRAM"] !== "iTerm.app") return undefined;
  const [, session] = /^w\d+t\d+p\d+:(\S+)$/.exec(env["ITERM_SESSION_ID"] ?? "") ?? [];
  return session === undefined ? undefined : { session };
}

/** The socket of the API of the iTerm2 that `env` names (`IT2_SUITE`, else the usual one). */
export function itermSocket(env: Env): string {
  const suite = env["IT2_SUITE"] || "iTerm2";
  return path.join(env["HOME"] ?? "/", "Library/Application Support", suite, "private/socket");
}
