import path from "node:path";
import { type AgentDefinition, findDefinition, toolsFor } from "../../agent/definitions/index.js";
import { createFileState } from "../../agent/file-state.js";
import type { ModelClient } from "../../agent/model/types.js";
import { type PermissionMode, permissionModes } from "../../agent/permissions/mode.js";
import { createPermissions } from "../../agent/permissions/permissions.js";
import { projectContext } from "../../agent/project-context.js";
import { systemPrompt } from "../../agent/prompt/system.js";
import type { QueryParams } from "../../agent/query.js";
import type { Tool } from "../../agent/tool.js";
import { builtinTools } from "../../agent/tools/index.js";
import { ensureDir } from "../../util/fs.js";
import { defaults } from "../defaults.js";
import { toolEnv } from "../member-env.js";
import { openModel } from "../model-choice.js";
import { teamPaths } from "../paths.js";
import { createSendMessageTool } from "../tools/send-message.js";
import type { AgentSpec } from "./agent-spec.js";

/** What stays the same for all turns of one incarnation. */
export type AgentSetup = Pick<
  QueryParams,
  "model" | "modelId" | "system" | "tools" | "permissions" | "toolContext" | "maxTurns" | "maxTokens"
>;

/**
 * Puts an agent together from its description: definition, model, tools, permissions, system prompt. A teammate always has
 * SendMessage, whatever its definition leaves out.
 */
export async function agentSetup(
  spec: AgentSpec,
  env: Readonly<Record<string, string>>,
  messages: Parameters<typeof createSendMessageTool>[0],
  signal: AbortSignal,
): Promise<AgentSetup> {
  const paths = teamPaths(spec.home, spec.dirName);
  const definition = findDefinition(spec.agentType);
  const model: ModelClient = await openModel({
    model: spec.model,
    script: spec.modelScript,
    agentKeys: [spec.name, definition.name],
    env,
  });
  const outputDir = path.join(spec.runDir, "out");
  await ensureDir(outputDir);
  const home = env["HOME"];
  const place = { cwd: spec.cwd, env, ...(home === undefined ? {} : { home }) };
  const context = definition.omitClaudeMd ? undefined : await projectContext(place, signal);
  const tools: readonly Tool[] = [...toolsOf(definition), createSendMessageTool(messages) as Tool];
  const date = new Date().toISOString().slice(0, 10);
  return {
    model,
    modelId: spec.model,
    // Made for each turn: of a thousand agents most wait, and the same text is made again.
    get system() {
      return systemPrompt({
        definition,
        teammate: {
          name: spec.name,
          team: spec.team,
          lead: spec.role === "lead" ? spec.name : spec.reportsTo,
          members: spec.colleagues,
          further: spec.furtherColleagues,
        },
        cwd: spec.cwd,
        addedDirs: [paths.scratch],
        platform: process.platform,
        date,
        projectContext: context,
      });
    },
    tools,
    permissions: createPermissions({
      mode: narrower(spec.permissionMode, definition.permissionMode),
      // The scratchpad is open to all of the team without a question.
      rules: { allow: [`Edit(${paths.scratch.replace(/[\\*?[\]{}()!+@]/g, "\\$&")}/**)`] },
      protectedDirs: [paths.home],
      openDirs: [paths.scratch, outputDir],
      ...(home === undefined ? {} : { home }),
    }),
    toolContext: {
      cwd: spec.cwd,
      env: toolEnv(env, spec.role),
      addedDirs: [paths.scratch],
      deniedDirs: [paths.home],
      outputDir,
      files: createFileState(),
    },
    maxTurns: spec.maxTurns,
    maxTokens: defaults.maxTokens,
  };
}

/** The tools of a definition; they hold nothing of an agent, so that all of its kind in a process share them. */
function toolsOf(definition: AgentDefinition): readonly Tool[] {
  const tools = shared.get(definition) ?? toolsFor(definition, builtinTools());
  shared.set(definition, tools);
  return tools;
}

const shared = new WeakMap<AgentDefinition, readonly Tool[]>();

/** A definition's mode counts only where it allows less than what the teammate was given. */
function narrower(given: PermissionMode, defined: PermissionMode | undefined): PermissionMode {
  if (defined === undefined) return given;
  return permissionModes.indexOf(defined) < permissionModes.indexOf(given) ? defined : given;
}
