import { type ExecResult, exec } from "../../util/exec.js";
import type { ToolContext } from "../tool.js";

/** How long one search may take. */
export const searchTimeoutMs = 30_000;

/**
 * Runs ripgrep in `cwd`, hidden files included, version control's own directories left out, ignore files respected, and
 * no configuration of the user's read. Its output is cut at `maxBytes`, where the search ends. A regex that it refuses
 * is an answer with exit code 2.
 */
export async function ripgrep(
  args: readonly string[],
  options: { readonly cwd: string; readonly maxBytes: number },
  context: Pick<ToolContext, "env" | "signal">,
): Promise<ExecResult> {
  const argv = [await binaryPath(), "--no-config", "--hidden", "--no-require-git", "--color=never", ...args];
  return exec(
    argv,
    {
      cwd: options.cwd,
      env: context.env,
      timeoutMs: searchTimeoutMs,
      maxBytes: options.maxBytes,
      endAtCap: true,
      okCodes: [0, 1, 2],
    },
    context.signal,
  );
}

/** Arguments that leave out what no search should enter; after all other `--glob` arguments, because the last one wins. */
export function exclusions(deniedDirs: readonly string[]): string[] {
  const inside = deniedDirs.map((dir) => `!/${dir.replace(/[\\*?[\]{}!]/g, "\\$&")}`);
  return ["!.git", "!.hg", "!.svn", ...inside].map((glob) => `--glob=${glob}`);
}

async function binaryPath(): Promise<string> {
  try {
    return (await import("@vscode/ripgrep")).rgPath;
  } catch {
    // No prebuilt binary for this platform: the one in PATH, and exec's message where there is none.
    return "rg";
  }
}
