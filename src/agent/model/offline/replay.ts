import type {
  ContentBlockParam,
  MessageParam,
  ToolResultBlockParam,
} from "@anthropic-ai/sdk/resources/messages/messages.js";
import { nameKey } from "../../../util/name-key.js";
import { blocksOf, callsOf } from "../../conversation.js";
import { type Frame, parseFrames } from "../../message-frame.js";
import type { Value } from "./filters.js";
import type { AgentScript, ScriptedCall, Step } from "./script.js";
import { holds, renderTemplate, type Scope, TemplateError } from "./template.js";

/** Where an agent stands in its script, derived from nothing but its conversation. */
export interface Position {
  /** Index of the step that is next; `steps.length` after the last. */
  readonly next: number;
  /** Names whose mail the next step still waits for. */
  readonly waitingFor: readonly string[];
  /** What the last user message brought: mail, only notices about others, or a person's words. */
  readonly heard: "mail" | "notices" | "prompt";
  readonly scope: Scope;
}

/** The id of a scripted tool call: it tells a later replay which call of which step it was. */
export function callId(step: number, call: number, unique: string): string {
  return `toolu_offline_${step}_${call}_${unique}`;
}

/** The calls of a step that are made, with their index in the script. */
export function callsToMake(step: Step, scope: Scope): readonly (readonly [number, ScriptedCall])[] {
  return [...step.tools.entries()].filter(([, { when }]) => when === undefined || holds(when, scope));
}

/**
 * Plays the conversation through again. An answer that was given while the step's mail was missing was a waiting line;
 * any other answer played the step, unless calls of it are missing: then it was cut off, and the step is played again.
 * A step takes all mail that has come from the names it awaits, so a later step with the same name waits for more. A
 * step without text and calls is passed over.
 */
export function replay(script: AgentScript, conversation: readonly MessageParam[]): Position {
  const mails: { readonly frame: Frame; taken: boolean }[] = [];
  const results = new Map<string, ToolResultBlockParam>();
  const callIds = new Map<string, string>();
  let next = 0;
  let from: readonly string[] = [];
  let heard: Position["heard"] = "prompt";

  const scope: Scope = ([kind, name = "", which]) => {
    if (kind === "agent") return script.name;
    if (kind === "from") return from.length === 0 ? undefined : from.join(", ");
    if (kind === "mail") return mailText(mails, name, which);
    const result = results.get(callIds.get(name) ?? "");
    if (result === undefined || (result.is_error === true) !== (kind === "error")) return undefined;
    return resultText(result);
  };
  const waitingFor = (step: Step | undefined) =>
    (step?.await ?? []).filter((name) => !mails.some((mail) => !mail.taken && isFrom(mail, name)));
  const isSilent = (step: Step) => callsToMake(step, scope).length === 0 && !hasText(step, scope);

  function hear(message: MessageParam): void {
    const texts = textsOf(message).map(parseFrames);
    const arrived = texts.flat().filter(({ kind }) => kind === "text");
    const onlyFrames = texts.every((frames) => frames.length > 0);
    heard = arrived.length > 0 ? "mail" : onlyFrames ? "notices" : "prompt";
    for (const frame of arrived) mails.push({ frame, taken: false });
    from = [...new Set(arrived.map((frame) => frame.from))];
    for (const block of blocksOf(message))
      if (block.type === "tool_result") results.set(block.tool_use_id, block);
  }

  function pass(step: Step): void {
    for (const mail of mails) if (step.await.some((name) => isFrom(mail, name))) mail.taken = true;
    next++;
  }

  /** The step that an answer plays here, those passed over that have nothing to say. */
  function playable(): Step | undefined {
    for (;;) {
      const step = script.steps[next];
      if (step === undefined || waitingFor(step).length > 0) return undefined;
      if (!isSilent(step)) return step;
      pass(step);
    }
  }

  for (const message of conversation) {
    if (message.role === "user") hear(message);
    if (message.role !== "assistant") continue;
    const step = playable();
    if (step === undefined) continue;
    const made = new Map(callsOf(message).map(({ id }) => [id.split("_").slice(0, 4).join("_"), id]));
    const expected = callsToMake(step, scope).map(
      ([index, call]) => [made.get(callKey(next, index)), call] as const,
    );
    if (expected.some(([id]) => id === undefined)) continue;
    for (const [id, { as }] of expected) if (id !== undefined && as !== undefined) callIds.set(as, id);
    pass(step);
  }
  playable();
  return { next, waitingFor: waitingFor(script.steps[next]), heard, scope };
}

/** A text whose values are missing counts: rendering it again tells what is wrong. */
function hasText({ text }: Step, scope: Scope): boolean {
  try {
    return text !== undefined && renderTemplate(text, scope).trim() !== "";
  } catch (error) {
    if (error instanceof TemplateError) return true;
    throw error;
  }
}

function callKey(step: number, call: number): string {
  return `toolu_offline_${step}_${call}`;
}

function isFrom({ frame }: { readonly frame: Frame }, name: string): boolean {
  return nameKey(frame.from) === nameKey(name);
}

/** The newest mail from `name`, the one with a number, or all of it. */
function mailText(
  mails: readonly { readonly frame: Frame }[],
  name: string,
  which: string | undefined,
): Value {
  const texts = mails.filter((mail) => isFrom(mail, name)).map(({ frame }) => frame.text);
  if (which === "all") return texts.length === 0 ? undefined : texts.join("\n\n");
  return which === undefined ? texts.at(-1) : texts[Number(which) - 1];
}

function textsOf(message: MessageParam): readonly string[] {
  return blocksOf(message).flatMap((block) => (block.type === "text" ? [block.text] : []));
}

function resultText({ content = "" }: ToolResultBlockParam): string {
  if (typeof content === "string") return content;
  return content
    .flatMap((block: ContentBlockParam | { type: string }) =>
      block.type === "text" && "text" in block ? [block.text] : [],
    )
    .join("\n");
}
