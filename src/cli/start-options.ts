import type { OptionTable } from "./option-table.js";

/** Options of the commands that start a team. */
export const startOptions = {
  backend: {
    type: "string",
    arg: "WHERE",
    choices: ["auto", "tmux", "iterm2", "in-process"],
    describe: "where teammates run; wins or fails",
  },
  model: {
    type: "string",
    arg: "MODEL",
    describe:
      "model of agents that name none: haiku, sonnet, opus, an id; offline: the scripted one, for all",
  },
  "model-script": { type: "string", arg: "PATH", describe: "script of the offline model" },
} as const satisfies OptionTable;
