import { type BackendProbes, chooseBackend } from "../../../backends/detect.js";
import { createProbes } from "../../../backends/probes.js";
import type { Availability } from "../../../backends/types.js";
import { tmuxProgram } from "../../team/tmux-program.js";
import type { Finding } from "./finding.js";

export interface ChoiceConditions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdinIsTerminal: boolean;
  readonly stderrIsTerminal: boolean;
}

/** Looks at this machine for all checks, so that nobody is asked twice. */
export function probesFor(env: ChoiceConditions["env"]): BackendProbes {
  return createProbes(env, tmuxProgram(env));
}

/** Where teammates can run here. */
export async function checkBackends(
  env: ChoiceConditions["env"],
  probes: BackendProbes = probesFor(env),
): Promise<Finding[]> {
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
export async function checkChoices(
  conditions: ChoiceConditions,
  probe: BackendProbes = probesFor(conditions.env),
): Promise<Finding[]> {
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

/** It is there, and could be used if it were let. */
const mendable = /^iterm2-/;

function found(subject: string, { available, code, reason, remedy, version }: Availability): Finding {
  return {
    subject,
    state: available ? "ok" : mendable.test(code) ? "warning" : "absent",
    code,
    text: reason,
    ...(version === undefined ? {} : { version }),
    ...(remedy === undefined ? {} : { remedy }),
  };
}
