import { oneLine } from "../../src/util/text.js";
import { installCommand } from "../install-command.js";
import type { Availability } from "../types.js";
import { askTmuxVersion, createTmuxClient } from "./client.js";
import { listPane, parseRows } from "./commands.js";
import { isNewEnough, oldestTmux } from "./version.js";

export interface TmuxProbe {
  readonly program: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Asks, too, whether this server answers for this pane. */
  readonly inside?: { readonly socket: string; readonly pane?: string };
}

/**
 * Whether tmux is there, new enough, and answers where it is asked to. Codes: `ok`, `tmux-missing`, `tmux-too-old`,
 * `tmux-unknown-version`, and for the server `tmux-no-server`, `tmux-no-target`, `tmux-refused`, `tmux-timeout`, …
 */
export async function probeTmux({ program, env, inside }: TmuxProbe): Promise<Availability> {
  const version = await askTmuxVersion(program, env);
  if (!version.ok)
    return version.failure === "missing"
      ? {
          available: false,
          code: "tmux-missing",
          reason: "tmux is not installed",
          remedy: installCommand("tmux"),
        }
      : { available: false, code: `tmux-${version.failure}`, reason: version.message };
  const text = oneLine(version.stdout);
  const enough = isNewEnough(text);
  if (enough === undefined)
    return { available: false, code: "tmux-unknown-version", reason: `${program} -V says ${text}` };
  if (!enough) {
    const reason = `${text} is installed, ${oldestTmux} or newer is needed`;
    return { available: false, code: "tmux-too-old", reason, remedy: installCommand("tmux"), version: text };
  }
  if (inside?.pane === undefined) return { available: true, code: "ok", reason: text, version: text };
  const client = createTmuxClient({ program, socket: inside.socket, env });
  const answer = await client.run([listPane(inside.pane)], 2000);
  if (answer.ok && parseRows(answer.stdout).length === 1)
    return { available: true, code: "ok", reason: `inside ${text}`, version: text };
  const [code, message] = answer.ok ? ["no-target", "no such pane"] : [answer.failure, answer.message];
  const reason = `the tmux server of TMUX=${inside.socket} does not answer for ${inside.pane}: ${message}`;
  return { available: false, code: `tmux-${code}`, reason, version: text };
}
