import type { BackendProbes } from "./detect.js";
import type { Iterm2Probe } from "./iterm2/probe.js";
import { tmuxAround } from "./tmux/inside-place.js";
import { probeTmux } from "./tmux/probe.js";
import type { Availability } from "./types.js";

/**
 * The probes that look at this machine, for a caller with environment `env`; `tmux` is the program's name or path. iTerm2 is
 * asked once: it may ask the person in turn.
 */
export function createProbes(
  env: Readonly<Record<string, string | undefined>>,
  tmux = "tmux",
  iterm2: Omit<Iterm2Probe, "env"> = {},
): BackendProbes {
  let asked: Promise<Availability> | undefined;
  const askIterm2 = async (): Promise<Availability> => {
    const { probeIterm2 } = await import("./iterm2/probe.js");
    return probeIterm2({ ...iterm2, env });
  };
  return {
    tmuxInstalled: () => probeTmux({ program: tmux, env }),
    async tmuxInside() {
      const inside = tmuxAround(env);
      return probeTmux(inside === undefined ? { program: tmux, env } : { program: tmux, env, inside });
    },
    iterm2() {
      asked ??= askIterm2();
      return asked;
    },
  };
}
