import type { z } from "zod";
import type { PermissionMode } from "./permissions/mode.js";

/** What a tool gives back to the model. `isError` marks an error result; the loop goes on either way. */
export interface ToolResult {
  readonly content: string;
  readonly isError?: boolean;
}

/** What a tool may use while it runs. Owned by the agent; a tool keeps no reference after it returned. */
export interface ToolContext {
  /** The agent's working directory, absolute. */
  readonly cwd: string;
  /** The environment for child processes; holds no credentials of troupe's own. */
  readonly env: Readonly<Record<string, string>>;
  /** Directories that path tools may reach besides `cwd`. */
  readonly addedDirs: readonly string[];
  /** Directories that path tools may not reach, but for those of the above that lie deeper inside. */
  readonly deniedDirs?: readonly string[];
  /** An existing directory of this agent (0700) for output that is too long for a result. */
  readonly outputDir: string;
  /** What the agent has read: real path to the state of the file at that time. */
  readonly files: FileState;
  readonly toolUseId: string;
  readonly signal: AbortSignal;
}

/** Files an agent has read, for Edit's and Write's guard against stale content. Bounded. */
export interface FileState {
  get(realPath: string): { readonly mtimeMs: number; readonly size: number } | undefined;
  set(realPath: string, state: { readonly mtimeMs: number; readonly size: number }): void;
}

/**
 * One tool. `input` is checked against `schema` before anything else is called. Instances hold no per-agent state; make
 * them by factory.
 */
export interface Tool<Input = unknown> {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType<Input>;
  /** Reads only: runs beside other such tools and is allowed in `plan`. May depend on the input. */
  isReadOnly(input: Input): boolean;
  /** One line for people: `src/auth/*.ts`, `git log -5`. */
  summarise(input: Input): string;
  /** Strings that permission rules match: the command, the absolute path, the agent type. */
  permissionSubjects?(input: Input, context: Pick<ToolContext, "cwd">): readonly string[];
  /** What the subjects are, which decides how rules match them; absent means names. */
  readonly subjectKind?: "path" | "command" | "name";
  /** Changes files only, inside the working directories: allowed by `acceptEdits`. */
  readonly editsFiles?: boolean;
  /** Never asks: it acts on the team's own state by messages only. */
  readonly alwaysAllowed?: boolean;
  /** Whether a call of a tool that is always allowed goes further than that, so that it is judged as others are. */
  goesFurther?(input: Input): boolean;
  /** A thrown error becomes an error result; an abort ends the turn. */
  run(input: Input, context: ToolContext): Promise<ToolResult>;
}

/** Decides about one tool call. `ask` has been resolved before it comes back: to a person's answer or a denial. */
export interface PermissionPort {
  readonly mode: PermissionMode;
  decide(call: PermissionCall, signal: AbortSignal): Promise<PermissionDecision>;
}

export interface PermissionCall {
  readonly tool: Tool;
  readonly input: unknown;
  readonly cwd: string;
  readonly addedDirs: readonly string[];
}

export type PermissionDecision =
  | { readonly behaviour: "allow"; readonly note?: string }
  | { readonly behaviour: "deny"; readonly reason: string };
