import { TroupeError } from "../../util/errors.js";
import { canonicalToolName } from "../tools/aliases.js";

/** A permission rule: a tool and, unless it is about every use of it, a pattern for what the tool is used on. */
export interface PermissionRule {
  /** By the name used here; `mcp__server` and `mcp__server__*` mean every tool of that server. */
  readonly tool: string;
  readonly pattern?: string;
}

/**
 * Reads `Tool`, `Tool(*)` or `Tool(pattern)`: `Bash(git log:*)`, `Edit(src/**)`, `Agent(Explore)`. Older tool names are
 * understood. Throws TroupeError `rule-invalid`, kind `usage`, with what is wrong.
 */
export function parseRule(text: string): PermissionRule {
  const [, name, argument] = /^\s*([A-Za-z][\w-]*\*?)\s*(?:\((.*)\))?\s*$/s.exec(text) ?? [];
  if (name === undefined) throw invalid(text, "it is not of the form Tool or Tool(pattern)");
  if (name.endsWith("*") && !/^mcp__[\w-]+__\*$/.test(name))
    throw invalid(text, "only mcp__server__* may end in a star");
  const pattern = argument?.trim();
  if (pattern === "") throw invalid(text, "its pattern is empty");
  if (name.startsWith("mcp__") && pattern !== undefined)
    throw invalid(text, "rules for MCP tools take no pattern");
  const tool = name.startsWith("mcp__") ? name.replace(/__\*$/, "") : canonicalToolName(name);
  return pattern === undefined || pattern === "*" ? { tool } : { tool, pattern };
}

/** The inverse of {@link parseRule}. */
export function formatRule({ tool, pattern }: PermissionRule): string {
  return pattern === undefined ? tool : `${tool}(${pattern})`;
}

function invalid(text: string, why: string): TroupeError {
  return new TroupeError("rule-invalid", `the permission rule ${JSON.stringify(text)} is not valid: ${why}`, {
    kind: "usage",
    remedy: "write rules like Bash(git log:*), Edit(src/**) or Grep",
  });
}
