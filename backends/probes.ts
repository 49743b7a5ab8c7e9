import type { BackendProbes } from "./detect.js";
import { probeIterm2 } from "./iterm2/executor.js";
import { tmuxAround } from "./tmux/inside-place.js";
import { probeTmux } from "./tmux/probe.js";

/** The probes that look at this machine, for a caller with environment `env`; `tmux` is the program's name or path. */
export function createProbes(
  env: Readonly<Record<string, string | undefined>>,
  tmux = "tmux",
): BackendProbes {
  return {
    tmuxInstalled: () => probeTmux({ program: tmux, env }),
    async tmuxInside() {
      const inside = tmuxAround(env);
      return probeTmux(inside === undefined ? { program: tmux, env } : { program: tmux, env, inside });
    },
    iterm2: async () => probeIterm2(env),
  };
}
