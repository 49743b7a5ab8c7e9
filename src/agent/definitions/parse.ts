import path from "node:path";
import type { z } from "zod";
import { type FileDiagnostic, parseFrontmatter } from "../../util/frontmatter.js";
import { oneLine } from "../../util/text.js";
import type { AgentDefinition, DefinitionSource } from "./definition.js";
import { agentTypesOf, definitionSchema, laterFields } from "./schema.js";

export interface ParsedDefinition {
  /** Undefined if a diagnostic is an error. */
  readonly definition: AgentDefinition | undefined;
  readonly diagnostics: readonly FileDiagnostic[];
}

/** Reads one definition: Markdown whose frontmatter has the fields and whose body is the prompt. Never throws. */
export function parseDefinition(text: string, file: string, source: DefinitionSource): ParsedDefinition {
  const { fields: given, body, diagnostics: found, lineOf } = parseFrontmatter(text);
  const diagnostics: FileDiagnostic[] = [...found];
  const report = (level: FileDiagnostic["level"], field: string, message: string) =>
    diagnostics.push({ level, line: lineOf(field), message: `${oneLine(field, 60)}: ${oneLine(message)}` });
  const fields = renamed(given);
  for (const field of Object.keys(given)) {
    if (laterFields.includes(field))
      report("warning", field, "is not supported by this version and does nothing");
    else if (!Object.hasOwn(definitionSchema.shape, field) && field !== "allowed-tools")
      report("warning", field, "is not a field of agent definitions and does nothing");
  }
  const checked = definitionSchema.safeParse(fields);
  if (!checked.success)
    for (const {
      path: [field],
      message,
    } of checked.error.issues) {
      const written = field === "tools" && !Object.hasOwn(given, "tools") ? "allowed-tools" : String(field);
      report("error", written, Object.hasOwn(fields, String(field)) ? message : "is missing");
    }
  if (body === "")
    diagnostics.push({ level: "error", line: 1, message: "there is no prompt below the frontmatter" });
  if (!checked.success || diagnostics.some(({ level }) => level === "error"))
    return { definition: undefined, diagnostics };
  const name = checked.data.name ?? path.basename(file, ".md");
  return {
    definition: build(checked.data, { name, prompt: body, source, file }, fields["tools"]),
    diagnostics,
  };
}

function renamed(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { "allowed-tools": tools, ...rest } = fields;
  return tools === undefined || Object.hasOwn(rest, "tools") ? rest : { ...rest, tools };
}

function build(
  data: z.infer<typeof definitionSchema>,
  own: Pick<AgentDefinition, "name" | "prompt" | "source" | "file">,
  tools: unknown,
): AgentDefinition {
  const { model = "inherit", background = false, omitClaudeMd = false, ...rest } = data;
  const agentTypes = agentTypesOf(tools);
  const given = Object.entries({ ...rest, agentTypes }).filter(([, value]) => value !== undefined);
  return {
    ...(Object.fromEntries(given) as Partial<AgentDefinition>),
    ...own,
    description: data.description,
    disallowedTools: data.disallowedTools ?? [],
    readOnly: false,
    model,
    background,
    omitClaudeMd,
    oneShot: false,
  };
}
