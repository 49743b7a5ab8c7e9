import * as z from "zod";
import { nameKey } from "../../../util/name-key.js";
import {
  type Expression,
  parseExpression,
  parseTemplate,
  sourcesOf,
  type Template,
  TemplateError,
} from "./template.js";

/** A script for the offline model, checked and compiled. */
export interface OfflineScript {
  /** Where it came from, for messages. */
  readonly file: string;
  /** Pause between the parts of an answer, in milliseconds. */
  readonly delayMs: number;
  /** By {@link nameKey} of a member's name or an agent type, and `default`. */
  readonly agents: ReadonlyMap<string, AgentScript>;
}

export interface AgentScript {
  readonly name: string;
  readonly steps: readonly Step[];
  /** What it says to mail after its last step. */
  readonly mail: Template;
}

export interface Step {
  /** Names that new mail must have come from before the step is played. */
  readonly await: readonly string[];
  readonly text: Template | undefined;
  readonly tools: readonly ScriptedCall[];
}

export interface ScriptedCall {
  readonly tool: string;
  /** Name of the result for later steps. */
  readonly as: string | undefined;
  /** The call is left out unless this holds. */
  readonly when: Expression | undefined;
  readonly input: InputValue;
}

/** A tool's input with templates for its strings. */
export type InputValue =
  | { readonly template: Template }
  | { readonly list: readonly InputValue[] }
  | { readonly fields: readonly (readonly [string, InputValue])[] }
  | { readonly constant: number | boolean | null };

/** Checks and compiles what a script holds, as data; `file` is where it came from. */
export function compileScript(value: unknown, file: string): CompiledScript {
  const parsed = scriptSchema.safeParse(value);
  if (!parsed.success) return { ok: false, issues: parsed.error.issues };
  const { delayMs, agents } = parsed.data;
  const entries = Object.entries(agents).map(([name, agent]) => [nameKey(name), { name, ...agent }] as const);
  return { ok: true, script: { file, delayMs, agents: new Map(entries) } };
}

export type CompiledScript =
  | { readonly ok: true; readonly script: OfflineScript }
  | { readonly ok: false; readonly issues: readonly z.core.$ZodIssue[] };

const template = z.string().transform((text, context) => compiled(text, parseTemplate, context));
const names = z.union([z.string().transform((name) => [name]), z.array(z.string()).min(1)], {
  error: "a name or a list of names",
});

const callSchema = z
  .strictObject({
    tool: z.string().min(1),
    as: z
      .string()
      .regex(/^[\p{L}\p{N}_-]+$/u, "letters, digits, - and _")
      .optional(),
    when: z
      .string()
      .transform((text, context) => compiled(text, parseExpression, context))
      .optional(),
    input: z
      .record(z.string(), z.unknown())
      .default({})
      .transform((input, context) => compileInput(input, [], context)),
  })
  .transform(({ as, when, ...call }): ScriptedCall => ({ ...call, as, when }));

const stepSchema = z
  .strictObject({
    await: names.default([]),
    text: template.optional(),
    tools: z.array(callSchema).default([]),
  })
  .refine((step) => step.text !== undefined || step.tools.length > 0, "a step needs text or tools")
  .transform(({ text, ...step }): Step => ({ ...step, text }));

const defaultMail = "My script has ended; I have read the mail from {{ from }} and do nothing more.";

/** A list of steps is short for an agent that says nothing of its own to later mail. */
const agentSchema = z
  .preprocess(
    (value) => (Array.isArray(value) ? { steps: value } : value),
    z.strictObject({ steps: z.array(stepSchema), mail: template.default(parseTemplate(defaultMail)) }),
  )
  .superRefine(checkNames);

const scriptSchema = z.strictObject({
  version: z.literal(1),
  delayMs: z.int().min(0).max(10_000).default(15),
  agents: z.record(z.string(), agentSchema),
});

/** Every result that a template starts from is named by a call of an earlier step. */
function checkNames({ steps }: { readonly steps: readonly Step[] }, context: z.RefinementCtx): void {
  const known = new Set<string>();
  for (const [index, step] of steps.entries()) {
    const uses: (readonly [Template, readonly (string | number)[]])[] = [
      [step.text ?? [], ["text"]],
      ...step.tools.flatMap(({ when, input }, i) => [
        [when === undefined ? [] : [when], ["tools", i, "when"]] as const,
        [templatesOf(input), ["tools", i, "input"]] as const,
      ]),
    ];
    for (const [parts, place] of uses)
      for (const [kind = "", name = "", ...rest] of sourcesOf(parts)) {
        const fault = sourceFault(kind, name, rest, known);
        if (fault !== undefined)
          context.addIssue({ code: "custom", path: ["steps", index, ...place], message: fault });
      }
    for (const { as } of step.tools) if (as !== undefined) known.add(as);
  }
}

function sourceFault(
  kind: string,
  name: string,
  rest: readonly string[],
  known: ReadonlySet<string>,
): string | undefined {
  if (kind === "from" || kind === "agent") return name === "" ? undefined : `${kind} has no parts`;
  if (kind === "mail")
    return name !== "" && rest.length <= 1 && /^(all|[1-9]\d*)?$/.test(rest[0] ?? "")
      ? undefined
      : "mail is written mail.NAME, mail.NAME.all or mail.NAME.2";
  if (kind !== "result" && kind !== "error")
    return `a value starts with result, error, mail, from or agent, not "${kind}"`;
  return known.has(name) && rest.length === 0
    ? undefined
    : `no earlier step names a result "${name}" with as:`;
}

function templatesOf(value: InputValue): Template {
  if ("template" in value) return value.template;
  if ("list" in value) return value.list.flatMap(templatesOf);
  if ("fields" in value) return value.fields.flatMap(([, field]) => templatesOf(field));
  return [];
}

function compileInput(
  value: unknown,
  path: readonly (string | number)[],
  context: z.RefinementCtx,
): InputValue {
  if (typeof value === "string") return { template: compiled(value, parseTemplate, context, path) ?? [] };
  if (Array.isArray(value))
    return { list: value.map((item, i) => compileInput(item, [...path, i], context)) };
  if (typeof value === "object" && value !== null)
    return {
      fields: Object.entries(value).map(
        ([name, field]) => [name, compileInput(field, [...path, name], context)] as const,
      ),
    };
  return { constant: value as number | boolean | null };
}

function compiled<T>(
  text: string,
  compile: (text: string) => T,
  context: z.RefinementCtx,
  path: readonly (string | number)[] = [],
): T {
  try {
    return compile(text);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    context.addIssue({ code: "custom", path: [...path], message: error.message });
    return z.NEVER;
  }
}
