import { randomUUID } from "node:crypto";
import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages/messages.js";
import { TroupeError } from "../../util/errors.js";
import { nameKey } from "../../util/name-key.js";
import { delay } from "../../util/wait.js";
import { defaultScript } from "./offline/default-script.js";
import { callId, callsToMake, type Position, replay } from "./offline/replay.js";
import type { AgentScript, InputValue, OfflineScript } from "./offline/script.js";
import { type ScriptedAnswer, streamEvents } from "./offline/stream-events.js";
import { renderTemplate, renderValue, type Scope, TemplateError } from "./offline/template.js";
import { type ModelClient, ModelError, type ModelRequest } from "./types.js";

export type { OfflineScript } from "./offline/script.js";

export interface OfflineOptions {
  /** Default: a built-in one that looks around. */
  readonly script?: OfflineScript | undefined;
  /** Whose steps to play: the first of these names that the script has, else its `default`. */
  readonly agentKeys: readonly string[];
  /** What is shown for the model's name. Default `offline (scripted)`. */
  readonly label?: string;
  /** Pause between the parts of an answer; default the script's own. */
  readonly delayMs?: number;
}

/**
 * The built-in scripted model: no key, no network. Which step is next is derived from each request's conversation, so
 * a resumed agent continues where it was. Throws TroupeError `offline-script` if the script has no steps for the agent.
 */
export function createOfflineModel(options: OfflineOptions): ModelClient {
  const { script = defaultScript(), label = "offline (scripted)", delayMs = script.delayMs } = options;
  const agent = agentOf(script, options.agentKeys);

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<RawMessageStreamEvent> {
    for (const event of streamEvents(nextAnswer(script, agent, request), label)) {
      signal.throwIfAborted();
      yield event;
      if (event.type === "content_block_delta") await delay(delayMs, signal);
    }
  }

  return { label, scripted: true, stream };
}

function agentOf(script: OfflineScript, names: readonly string[]): AgentScript {
  for (const name of [...names, "default"]) {
    const agent = script.agents.get(nameKey(name));
    if (agent !== undefined) return agent;
  }
  throw new TroupeError(
    "offline-script",
    `the script ${script.file} has no steps for ${names.join(" or ")} and none for default`,
    { kind: "usage", remedy: "add the name under agents:" },
  );
}

function nextAnswer(script: OfflineScript, agent: AgentScript, { messages }: ModelRequest): ScriptedAnswer {
  let position: Position | undefined;
  try {
    position = replay(agent, messages);
    return answerAt(agent, position);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const place = position === undefined ? "" : `, ${stepName(agent, position.next)}`;
    throw new ModelError("script", `${script.file}, agent ${agent.name}${place}: ${error.message}`, {
      retryable: false,
      cause: error,
    });
  }
}

function answerAt(agent: AgentScript, { next, waitingFor, heard, scope }: Position): ScriptedAnswer {
  const step = agent.steps[next];
  if (step === undefined) return { text: afterTheEnd(agent, heard, scope), calls: [] };
  if (waitingFor.length > 0) return { text: `Waiting for mail from ${waitingFor.join(", ")}.`, calls: [] };
  return {
    text: step.text === undefined ? "" : renderTemplate(step.text, scope),
    calls: callsToMake(step, scope).map(([index, { tool, input }]) => ({
      id: callId(next, index, randomUUID().slice(0, 8)),
      tool,
      input: inputValue(input, scope),
    })),
  };
}

/** Notices about others, such as that one is idle, get no answer: the last words stay the script's own. */
function afterTheEnd(agent: AgentScript, heard: Position["heard"], scope: Scope): string {
  if (heard === "notices") return "";
  return heard === "mail" ? renderTemplate(agent.mail, scope) : "My script has ended.";
}

function inputValue(value: InputValue, scope: Scope): unknown {
  if ("template" in value) return renderValue(value.template, scope);
  if ("list" in value) return value.list.map((item) => inputValue(item, scope));
  if ("fields" in value)
    return Object.fromEntries(value.fields.map(([name, field]) => [name, inputValue(field, scope)]));
  return value.constant;
}

function stepName(agent: AgentScript, index: number): string {
  return index < agent.steps.length ? `step ${index + 1}` : "mail";
}
