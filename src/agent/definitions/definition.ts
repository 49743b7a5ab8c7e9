import type { PermissionMode } from "../permissions/mode.js";

/** Where a definition comes from; each overrides those before it. */
export const definitionSources = [
  "built-in",
  "plugin",
  "user",
  "project",
  "flag",
  "command-line",
  "managed",
] as const;

export type DefinitionSource = (typeof definitionSources)[number];

/** A kind of agent. */
export interface AgentDefinition {
  readonly name: string;
  /** When to use it; for the model that chooses and for people. */
  readonly description: string;
  /** Its part of the system prompt. */
  readonly prompt: string;
  /** Names of the tools it may have, `mcp__server` for a whole server; absent means all. */
  readonly tools?: readonly string[];
  readonly disallowedTools: readonly string[];
  /** The types that its Agent tool may start, where it is a main agent; absent means all. */
  readonly agentTypes?: readonly string[];
  /** It only reads: Bash takes reading commands alone, and only MCP tools marked read-only are there. */
  readonly readOnly: boolean;
  /** `inherit`, an alias of the profile, or a model id. */
  readonly model: string;
  readonly effort?: "low" | "medium" | "high" | "xhigh" | "max";
  readonly permissionMode?: PermissionMode;
  readonly maxTurns?: number;
  readonly maxTokens?: number;
  /** Opens the first turn. */
  readonly initialPrompt?: string;
  /** Repeated with every user turn. */
  readonly criticalReminder?: string;
  /** As a child it always runs in the background. */
  readonly background: boolean;
  readonly isolation?: "worktree";
  readonly color?: string;
  /** Neither project instructions nor a git snapshot in its prompt. */
  readonly omitClaudeMd: boolean;
  /** As a child it answers once and is not continued. */
  readonly oneShot: boolean;
  readonly source: DefinitionSource;
  /** The file it was read from. */
  readonly file?: string;
}
