import type { Tool } from "../tool.js";
import type { CallFacts } from "./call-facts.js";
import { isGuardedPath } from "./guarded-path.js";
import { allows, restricts } from "./match-rule.js";
import type { PermissionMode } from "./mode.js";
import { formatRule, type PermissionRule } from "./rule.js";

export interface Policy {
  readonly mode: PermissionMode;
  readonly allow: readonly PermissionRule[];
  readonly deny: readonly PermissionRule[];
  readonly ask: readonly PermissionRule[];
  readonly home: string | undefined;
}

/** `ask` says why, and whether an allow rule or a wider mode would make the question unnecessary. */
export type Verdict =
  | { readonly behaviour: "allow" }
  | { readonly behaviour: "deny"; readonly reason: string }
  | { readonly behaviour: "ask"; readonly reason: string; readonly ruleHelps: boolean };

/** Decides about one call; pure. Deny beats ask beats allow; in bypassPermissions only closed directories and deny rules hold. */
export function judge(tool: Tool, facts: CallFacts, policy: Policy): Verdict {
  const closed = facts.paths.find((one) => one.closed);
  if (closed !== undefined) return deny(`${closed.written} belongs to troupe itself and is closed to tools`);
  const restricting = (rules: readonly PermissionRule[]) =>
    rules.find((rule) => restricts(rule, tool, facts, policy.home));
  const denying = restricting(policy.deny);
  if (denying !== undefined) return deny(`the rule ${formatRule(denying)} denies it`);
  if (policy.mode === "bypassPermissions" || facts.alwaysAllowed) return { behaviour: "allow" };
  if (policy.mode === "plan" && !facts.readOnly)
    return deny("in mode plan only reading is allowed; describe the change instead of making it");

  const asking = restricting(policy.ask);
  if (asking !== undefined) return ask(`the rule ${formatRule(asking)} asks about it`, false);
  const guarded = facts.readOnly ? undefined : facts.paths.find((one) => isGuarded(one, facts));
  if (guarded !== undefined)
    return ask(`writing ${guarded.written} can make something run later, and is always asked about`, false);
  if (allows(policy.allow, tool, facts, policy.home)) return { behaviour: "allow" };

  const outside = facts.paths.find((one) => !one.inside);
  if (tool.subjectKind !== "command") {
    // Where path tools that read may go they check themselves, on the file they have opened.
    if (facts.readOnly) return { behaviour: "allow" };
    // A yes would be in vain: the tool would refuse.
    if (outside !== undefined) return deny(notInside(outside.written));
    const edits = tool.editsFiles === true && facts.paths.length > 0;
    return policy.mode === "acceptEdits" && edits ? { behaviour: "allow" } : ask("it changes things", true);
  }
  if (facts.readOnly)
    return outside === undefined ? { behaviour: "allow" } : ask(notInside(outside.written), true);
  if (facts.command !== undefined) return ask("it may change things", true);
  return ask("what it does is not certain: only plain words joined by | && || ; are understood", true);
}

function deny(reason: string): Verdict {
  return { behaviour: "deny", reason };
}

function ask(reason: string, ruleHelps: boolean): Verdict {
  return { behaviour: "ask", reason, ruleHelps };
}

function notInside(target: string): string {
  return `${target} lies outside of the working directories, or has a closed directory in it`;
}

function isGuarded(target: CallFacts["paths"][number], { roots }: CallFacts): boolean {
  if (isGuardedPath(target.written, roots.written)) return true;
  return target.real !== undefined && isGuardedPath(target.real, roots.real);
}
