import path from "node:path";
import type { PermissionCall } from "../tool.js";
import { isInside } from "../tools/containment.js";
import type { CallFacts } from "./call-facts.js";
import { formatRule } from "./rule.js";

/** The narrowest rule that allows this call, as text; undefined where no rule can say it. */
export function suggestRule({ tool }: PermissionCall, facts: CallFacts): string | undefined {
  const [subject, second] = facts.subjects;
  if (subject === undefined) return formatRule({ tool: tool.name });
  if (second !== undefined) return undefined;
  if (tool.subjectKind === "path") return fromPath(tool.name, facts);
  const words = tool.subjectKind === "command" ? onlyCommand(facts) : [subject];
  if (words === undefined || words.some((word) => !/^[^\s*()]+$/.test(word))) return undefined;
  return formatRule({ tool: tool.name, pattern: words.join(" ") });
}

function onlyCommand({ command }: CallFacts): readonly string[] | undefined {
  return command?.commands.length === 1 ? command.commands[0]?.words : undefined;
}

function fromPath(tool: string, { paths, roots }: CallFacts): string | undefined {
  const real = paths[0]?.real;
  const [cwd] = roots.real;
  if (real === undefined || cwd === undefined || /[*?[\]{}()!+@\\]/.test(real)) return undefined;
  if (!isInside(real, cwd)) return formatRule({ tool, pattern: real });
  const relative = path.relative(cwd, real);
  return formatRule({ tool, pattern: relative.includes("/") ? relative : `./${relative}` });
}
