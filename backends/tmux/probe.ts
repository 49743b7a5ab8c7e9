import { oneLine } from "../../src/util/text.js";
import { installCommand } from "../install-command.js";
import type { Availability } from "../types.js";
import { askTmuxVersion, createTmuxClient } from "./client.js";
import { listPane, type PaneRow, parseRows } from "./commands.js";
import { isCallersServer } from "./inside-place.js";
import { tmuxRemedy } from "./place.js";
import { isNewEnough, oldestTmux } from "./version.js";

export interface TmuxProbe {
  readonly program: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Asks, too, whether this server, if told the one with this pid, answers for this pane. */
  readonly inside?: { readonly socket: string; readonly serverPid?: number; readonly pane?: string };
}

/**
 * Whether tmux is there, new enough, and answers where it is asked to. Codes: `ok`, `tmux-missing`, `tmux-too-old`,
 * `tmux-unknown-version`, and for the server `tmux-no-server`, `tmux-no-target`, `tmux-other-server`, `tmux-refused`,
 * `tmux-timeout`, …
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
    return {
      available: false,
      code: "tmux-unknown-version",
      reason: `${program} -V says ${text || "nothing"}, which names no version of tmux`,
      remedy: `${installCommand("tmux")}, or set TROUPE_TMUX to the path of tmux ${oldestTmux} or newer`,
    };
  if (!enough) {
    const reason = `${text} is installed, ${oldestTmux} or newer is needed`;
    const remedy = `${installCommand("tmux")}, or set TROUPE_TMUX to the path of a newer one`;
    return { available: false, code: "tmux-too-old", reason, remedy, version: text };
  }
  if (inside?.pane === undefined) return { available: true, code: "ok", reason: text, version: text };
  const client = createTmuxClient({ program, socket: inside.socket, env });
  const answer = await client.run([listPane(inside.pane)], 2000);
  const [row] = answer.ok ? parseRows(answer.stdout) : [];
  if (row !== undefined && isCallersServer(inside, row))
    return { available: true, code: "ok", reason: `inside ${text}`, version: text };
  const [code, message] = answer.ok ? unanswered(row) : [answer.failure, answer.message];
  const reason = `the tmux server of TMUX=${inside.socket} does not answer for ${inside.pane}: ${message}`;
  const remedy = answer.ok ? undefined : tmuxRemedy(answer.failure, inside.socket);
  return {
    available: false,
    code: `tmux-${code}`,
    reason,
    version: text,
    ...(remedy === undefined ? {} : { remedy }),
  };
}

function unanswered(row: PaneRow | undefined): [code: string, message: string] {
  return row === undefined
    ? ["no-target", "no such pane"]
    : ["other-server", `it was started anew (pid ${row.serverPid}), and the pane is not the same`];
}
