import { TroupeError } from "../../util/errors.js";
import { oneLine } from "../../util/text.js";
import type { TeamEventBody } from "../events.js";
import type { IdleReason } from "../member-state.js";
import type { Postman } from "../postman.js";
import type { AgentSpec } from "./agent-spec.js";
import type { Asked, Lanes } from "./lanes.js";

/** Kinds of mail that want an answer. An `idle` must not: two members that tell each other so would never end. */
const asking: readonly string[] = ["text", "task-assignment"];

/**
 * Sends the last words of a turn to whoever is left without an answer: for every message that nothing replied to, or to
 * whoever the member reports to where it wrote to nobody. A lead answers the user alone; what its teammates report
 * needs no reply. Where they cannot be sent, to a member of another team for one, a warning says so.
 */
export async function lastWords(options: {
  readonly spec: AgentSpec;
  readonly postman: Postman;
  readonly lanes: Lanes;
  /** Whether the turn sent any message. */
  readonly wrote: boolean;
  readonly reason: IdleReason;
  readonly text: string;
  readonly emit: (event: TeamEventBody) => void;
}): Promise<void> {
  const { spec, lanes, postman } = options;
  const unanswered = [...lanes.unanswered];
  const owed = unanswered.filter((asked) => isOwed(spec, asked));
  for (const { id } of unanswered) lanes.replied(id);
  const nobody = owed.length === 0 && !options.wrote && spec.role === "teammate";
  const recipients: { readonly to: string; readonly id?: string }[] = nobody
    ? [{ to: spec.reportsTo }]
    : owed.map(({ from, id }) => ({ to: from, id }));
  const words = {
    kind: "idle",
    reason: options.reason,
    text: options.text,
    summary: oneLine(options.text, 60),
  };
  for (const { to, id } of recipients)
    try {
      await postman.send(to, id === undefined ? words : { ...words, inReplyTo: id });
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error;
      const text = oneLine(`the last words to ${to} were not sent: ${error.message}`);
      options.emit({ type: "notice", level: "warning", name: spec.name, text });
    }
}

function isOwed(spec: AgentSpec, asked: Asked): boolean {
  if (!asking.includes(asked.kind) || asked.from.startsWith("external:")) return false;
  return spec.role === "teammate" || asked.from === "user";
}
