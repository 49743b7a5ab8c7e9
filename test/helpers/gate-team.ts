import type { Place } from "./place.js";

/** Commands that the teammate `worker` of {@link writeGateTeam} waits for. */
export interface Gate {
  /** Lets the worker go on. */
  open(): void;
}

/**
 * Writes `team.yaml` for a team of scripted agents: `worker` works until the gate is open, then says `Passed the gate.`;
 * `idler` has nothing to do. Both answer later mail with `NAME read the mail from SENDER.` `more` adds to the team file.
 */
export function writeGateTeam(place: Place, more: object = {}): Gate {
  place.write("team.yaml", {
    name: "gate",
    model: "offline",
    modelScript: "model.yaml",
    teammates: [
      { name: "worker", agent: "general-purpose", prompt: "Begin.", permissionMode: "bypassPermissions" },
      { name: "idler", agent: "general-purpose" },
    ],
    ...more,
  });
  const waiting = { tool: "Bash", input: { command: "until [ -e gate ]; do sleep 0.1; done" } };
  place.write("model.yaml", {
    version: 1,
    delayMs: 5,
    agents: {
      worker: {
        steps: [{ text: "I wait at the gate.", tools: [waiting] }, { text: "Passed the gate." }],
        mail: "worker read the mail from {{ from }}.",
      },
      idler: {
        steps: [{ text: "idler read the mail from {{ from }}." }],
        mail: "idler read the mail from {{ from }}.",
      },
      default: [{ text: "I look around." }],
    },
  });
  return { open: () => void place.write("gate", "") };
}
