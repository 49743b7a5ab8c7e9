// The engine: one agent, model and tools in, events out.

export type { AgentDefinition } from "./agent/definitions/index.js";
export { findDefinition, toolsFor } from "./agent/definitions/index.js";
export { loadDefinitions } from "./agent/definitions/load.js";
export type { AgentEvent, QueryResult, Usage } from "./agent/events.js";
export { createFileState } from "./agent/file-state.js";
export { anthropicOptions, createAnthropicModel } from "./agent/model/anthropic.js";
export { type Backoff, createBackoff } from "./agent/model/backoff.js";
export { loadOfflineScript } from "./agent/model/offline/load-script.js";
export { createOfflineModel } from "./agent/model/offline.js";
export { type ModelClient, ModelError, type ModelRequest } from "./agent/model/types.js";
export { type PermissionMode, permissionModes } from "./agent/permissions/mode.js";
export { createPermissions } from "./agent/permissions/permissions.js";
export type { IncomingMessage, MessagePort, Transcript, TranscriptRecord } from "./agent/ports.js";
export { systemPrompt } from "./agent/prompt/system.js";
export { type QueryParams, query } from "./agent/query.js";
export type { PermissionPort, Tool, ToolContext, ToolResult } from "./agent/tool.js";
export { builtinTools } from "./agent/tools/index.js";
export { openTranscript, readTranscript } from "./agent/transcript.js";

// The team: who runs, where, and how to reach them.
export type { TeamEvent } from "./team/events.js";
export { connectHost, type HostConnection } from "./team/host/client.js";
export { type LocatedTeam, locateTeam } from "./team/locate.js";
export type { MemberState } from "./team/member-state.js";
export { type MemberRecord, readMembers, type TeamRecord } from "./team/records.js";
export { type Letter, sendLetter } from "./team/send.js";
export { type StartRequest, startTeam } from "./team/start.js";
export { planStart } from "./team/start-request.js";
export { loadTeamFile, parseTeamFile } from "./team/team-file/load.js";
export type { TeamFile, TeammateSpec } from "./team/team-file/schema.js";
export { TroupeError } from "./util/errors.js";
export { version } from "./util/version.js";
