import { oneLine } from "../../util/text.js";
import type { PermissionCall, PermissionPort } from "../tool.js";
import { gatherFacts, type Territory } from "./call-facts.js";
import { judge, type Policy } from "./judge.js";
import type { PermissionMode } from "./mode.js";
import { parseRule } from "./rule.js";
import { suggestRule } from "./suggest-rule.js";

export interface PermissionOptions {
  readonly mode: PermissionMode;
  /** Rules as text. One that is not valid makes `createPermissions` throw. */
  readonly rules?: {
    readonly allow?: readonly string[];
    readonly deny?: readonly string[];
    readonly ask?: readonly string[];
  };
  /** Gets a person's answer. Absent where nobody is there: what would ask is denied. */
  readonly ask?: (request: PermissionRequest, signal: AbortSignal) => Promise<PermissionAnswer>;
  /** Directories closed to tools in every mode, but for working directories and `openDirs` inside them. */
  readonly protectedDirs?: readonly string[];
  readonly openDirs?: readonly string[];
  /** The person's home directory, for `~/` in rules and commands. */
  readonly home?: string;
}

/** A question to a person. */
export interface PermissionRequest {
  readonly tool: string;
  /** One line: what the call is about. */
  readonly summary: string;
  /** Why it is asked, without a full stop. */
  readonly reason: string;
  /** What `always` would allow from now on; absent where `always` cannot be offered. */
  readonly rule?: string;
}

export type PermissionAnswer =
  /** With `always`, the request's rule is in force for the rest of this agent's life. */
  | { readonly behaviour: "allow"; readonly always?: boolean; readonly note?: string }
  | { readonly behaviour: "deny"; readonly reason: string };

/** The permissions of one agent. Throws TroupeError `rule-invalid`, kind `usage`, for a rule that cannot be read. */
export function createPermissions(options: PermissionOptions): PermissionPort {
  const { mode, rules = {}, home } = options;
  const allow = (rules.allow ?? []).map(parseRule);
  const policy: Policy = {
    mode,
    allow,
    deny: (rules.deny ?? []).map(parseRule),
    ask: (rules.ask ?? []).map(parseRule),
    home,
  };
  const territory: Territory = {
    protectedDirs: options.protectedDirs ?? [],
    openDirs: options.openDirs ?? [],
    home,
  };
  return {
    mode,
    async decide(call, signal) {
      signal.throwIfAborted();
      const facts = await gatherFacts(call, territory);
      const verdict = judge(call.tool, facts, policy);
      if (verdict.behaviour === "allow") return verdict;
      if (verdict.behaviour === "deny") return { behaviour: "deny", reason: `${verdict.reason}.` };
      const rule = verdict.ruleHelps ? suggestRule(call, facts) : undefined;
      if (options.ask === undefined) {
        const reason = `${verdict.reason}, and nobody is there to approve it. ${wayOut(call, rule)}`;
        return { behaviour: "deny", reason };
      }
      const summary = oneLine(call.tool.summarise(call.input));
      const request = { tool: call.tool.name, summary, reason: verdict.reason };
      const answer = await options.ask(rule === undefined ? request : { ...request, rule }, signal);
      if (answer.behaviour === "allow" && answer.always === true && rule !== undefined)
        allow.push(parseRule(rule));
      return answer;
    },
  };
}

/** What the person who starts the agent could do about a denial. */
function wayOut({ tool }: PermissionCall, rule: string | undefined): string {
  const edits = tool.editsFiles === true && rule !== undefined;
  const ways = [
    ...(rule === undefined ? [] : [`an allow rule ${rule}`]),
    ...(edits ? ["mode acceptEdits"] : []),
    "mode bypassPermissions",
  ];
  return `It would be allowed by ${ways.join(" or ")}.`;
}
