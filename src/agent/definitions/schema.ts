import * as z from "zod";
import { permissionModes } from "../permissions/mode.js";
import { canonicalToolName } from "../tools/aliases.js";

const toolNames = z
  .union([z.string(), z.array(z.string())], "expected a list or names separated by commas")
  .transform((given) => (typeof given === "string" ? splitNames(given) : given.map((name) => name.trim())))
  .pipe(
    z.array(
      z.string().regex(/^(\*|[A-Za-z][\w-]*\*?|(Agent|Task|agent)\([^()]*\))$/, "not the name of a tool"),
    ),
  )
  .transform((names) => names.map((name) => canonicalToolName(name.replace(/\(.*$/, ""))));

const text = z.string().trim().min(1, "is empty");

/** The frontmatter fields of an agent definition that are in force. */
export const definitionSchema = z.object({
  name: z
    .string()
    .regex(/^[\p{L}\p{N}][\p{L}\p{N}_:-]{0,79}$/u, "letters, digits, - and _, at most 80")
    .optional(),
  description: text,
  tools: toolNames.optional(),
  disallowedTools: toolNames.optional(),
  model: text.optional(),
  effort: z.enum(["low", "medium", "high", "xhigh", "max"]).optional(),
  permissionMode: z.enum(permissionModes).optional(),
  maxTurns: z.number().int().positive().optional(),
  maxTokens: z.number().int().positive().optional(),
  initialPrompt: text.optional(),
  criticalReminder: text.optional(),
  background: z.boolean().optional(),
  isolation: z.literal("worktree", "only worktree is possible; there are no remote agents").optional(),
  color: z.enum(["red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan"]).optional(),
  omitClaudeMd: z.boolean().optional(),
});

/** Fields that are understood and do nothing yet. */
export const laterFields: readonly string[] = [
  "mcpServers",
  "requiredMcpServers",
  "hooks",
  "skills",
  "memory",
];

/** The types in `Agent(worker, researcher)`, or undefined if the tools do not limit them. */
export function agentTypesOf(tools: unknown): readonly string[] | undefined {
  const names = typeof tools === "string" ? splitNames(tools) : Array.isArray(tools) ? tools.map(String) : [];
  for (const name of names) {
    const listed = /^(?:Agent|Task|agent)\(([^()]*)\)$/.exec(name.trim())?.[1];
    if (listed !== undefined) return splitNames(listed);
  }
  return undefined;
}

/** Parts between commas, but for commas inside parentheses. */
function splitNames(list: string): string[] {
  return list
    .split(/,(?![^()]*\))/)
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
