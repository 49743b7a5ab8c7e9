import type { Tool } from "../tool.js";
import type { CallFacts } from "./call-facts.js";
import { isCommand, mentionsCommand } from "./match-command.js";
import { matchesPath } from "./match-path.js";
import { onlyReads } from "./read-only-command.js";
import type { PermissionRule } from "./rule.js";

/** Whether a rule that denies or asks is about this call: anything it means being touched is enough. */
export function restricts(
  rule: PermissionRule,
  tool: Tool,
  facts: CallFacts,
  home: string | undefined,
): boolean {
  const { pattern } = rule;
  if (pattern !== undefined && tool.subjectKind === "command" && governsFilesOf(rule.tool, facts.readOnly))
    return touches(pattern, facts, home);
  if (!isAbout(rule.tool, tool)) return false;
  if (pattern === undefined) return true;
  if (tool.subjectKind === "command") return facts.subjects.some((text) => mentionsCommand(pattern, text));
  if (tool.subjectKind === "path") return touches(pattern, facts, home);
  return facts.subjects.some((name) => isName(pattern, name));
}

/** Whether the allow rules cover all of this call. */
export function allows(
  rules: readonly PermissionRule[],
  tool: Tool,
  facts: CallFacts,
  home: string | undefined,
): boolean {
  const own = rules.filter((rule) => isAbout(rule.tool, tool));
  if (own.some(({ pattern }) => pattern === undefined)) return true;
  const patterns = own.map(({ pattern }) => pattern).filter((pattern) => pattern !== undefined);
  if (patterns.length === 0) return false;
  if (tool.subjectKind === "command") return allowsCommands(patterns, facts);
  const [cwd = "/"] = facts.roots.real;
  const covered =
    tool.subjectKind === "path"
      ? facts.paths.map(
          ({ real }) =>
            real !== undefined &&
            patterns.some((p) => matchesPath(p, real, { cwd, home, ignoreCase: false })),
        )
      : facts.subjects.map((name) => patterns.some((pattern) => isName(pattern, name)));
  return covered.length > 0 && covered.every(Boolean);
}

/** Every command of the line by a rule, or by reading only and inside the working directories. */
function allowsCommands(patterns: readonly string[], { command, paths }: CallFacts): boolean {
  if (command === undefined) return false;
  const inside = paths.every((one) => one.inside);
  return command.commands.every(
    ({ words }) => patterns.some((pattern) => isCommand(pattern, words)) || (inside && onlyReads(words)),
  );
}

/** Edit rules are about every tool that edits files, Read rules about every tool that reads them. */
function isAbout(ruleTool: string, tool: Tool): boolean {
  if (ruleTool === tool.name || tool.name.startsWith(`${ruleTool}__`)) return true;
  if (ruleTool === "Edit") return tool.editsFiles === true;
  return ruleTool === "Read" && tool.subjectKind === "path" && tool.editsFiles !== true;
}

/** Whether file rules of this tool restrict a command, too: Read rules every one, the others what may write. */
function governsFilesOf(ruleTool: string, readOnly: boolean): boolean {
  return ruleTool === "Read" || (!readOnly && (ruleTool === "Edit" || ruleTool === "Write"));
}

function touches(pattern: string, { paths, roots }: CallFacts, home: string | undefined): boolean {
  const [writtenCwd = "/"] = roots.written;
  const [realCwd = writtenCwd] = roots.real;
  const about = (target: string, cwd: string) =>
    matchesPath(pattern, target, { cwd, home, ignoreCase: true });
  return paths.some(
    ({ written, real }) => about(written, writtenCwd) || (real !== undefined && about(real, realCwd)),
  );
}

function isName(pattern: string, name: string): boolean {
  const [wanted, given] = [pattern.toLowerCase(), name.toLowerCase()];
  return wanted.endsWith("*") ? given.startsWith(wanted.slice(0, -1)) : wanted === given;
}
