import { gitSubcommands, readers } from "../permissions/read-only-table.js";
import type { Tool } from "../tool.js";
import { canonicalToolName } from "../tools/aliases.js";
import type { AgentDefinition } from "./definition.js";

/**
 * The tools out of `all` that a definition gives its agent, in the order of `all`. Names are matched by their aliases,
 * too; a name that is not in `all` is passed over, because its server may not be there.
 */
export function toolsFor(definition: AgentDefinition, all: readonly Tool[]): readonly Tool[] {
  const { tools, disallowedTools, readOnly } = definition;
  const named = all.filter(
    ({ name }) => (tools === undefined || isNamed(name, tools)) && !isNamed(name, disallowedTools),
  );
  if (!readOnly) return named;
  return named
    .filter((tool) => !tool.name.startsWith("mcp__") || tool.isReadOnly({}))
    .map((tool) => (tool.subjectKind === "command" ? onlyReading(tool) : tool));
}

function isNamed(tool: string, names: readonly string[]): boolean {
  return names.some((given) => {
    const name = canonicalToolName(given);
    if (name.endsWith("*")) return tool.startsWith(name.slice(0, -1));
    return name === tool || (name.startsWith("mcp__") && tool.startsWith(`${name}__`));
  });
}

/** A command tool that refuses, in every mode and before anybody is asked, each command that may do more than read. */
function onlyReading(tool: Tool): Tool {
  const commands = [
    ...Object.keys(readers),
    ...Object.keys(gitSubcommands).map((name) => `git ${name}`),
  ].join(", ");
  return {
    ...tool,
    description: `${tool.description}
- Here it takes only commands that read: ${commands}; joined by | && || or ; if need be. Options that write or run something are
  refused, and so are redirections, variables, substitutions, globs outside of quotes and backslashes.`,
    schema: tool.schema.refine((input) => tool.isReadOnly(input), {
      path: ["command"],
      message:
        "only commands that read are allowed here, as plain words, without redirection, variables, globs outside of quotes or options that write",
    }),
    isReadOnly: () => true,
  };
}
