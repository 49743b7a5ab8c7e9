import { chooseBackend } from "../../../backends/detect.js";
import { createProbes } from "../../../backends/probes.js";
import type { Availability } from "../../../backends/types.js";
import { tmuxProgram } from "../../team/tmux-program.js";
import type { Finding } from "./finding.js";

export interface ChoiceConditions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdinIsTerminal: boolean;
  readonly stderrIsTerminal: boolean;
}

/** Where teammates can run here. */
export async function checkBackends(env: ChoiceConditions["env"]): Promise<Finding[]> {
  const probes = createProbes(env, tmuxProgram(env));
  const [tmux, iterm2] = await Promise.all([
    env["TMUX"] ? probes.tmuxInside() : probes.tmuxInstalled(),
    probes.iterm2(),
  ]);
  return [
    found("tmux", tmux),
    found("iterm2", iterm2),
    { subject: "in-process", state: "ok", code: "ok", text: "needs nothing" },
  ];
}

/** What `up` and `run` would choose if they were started here and now, and why. */
export async function checkChoices(conditions: ChoiceConditions): Promise<Finding[]> {
  const probe = createProbes(conditions.env, tmuxProgram(conditions.env));
  return Promise.all(
    (["up", "run"] as const).map(async (command) => {
      const choice = await chooseBackend({ ...conditions, command, probe });
      const hint = choice.hint === undefined ? {} : { remedy: choice.hint };
      return {
        subject: `troupe ${command}`,
        state: "ok" as const,
        text: `${choice.type}: ${choice.reason}`,
        ...hint,
      };
    }),
  );
}

function found(subject: string, { available, code, reason, remedy, version }: Availability): Finding {
  return {
    subject,
    state: available ? "ok" : "absent",
    code,
    text: reason,
    ...(version === undefined ? {} : { version }),
    ...(remedy === undefined ? {} : { remedy }),
  };
}
