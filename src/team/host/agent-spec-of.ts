import type { AgentDefinition } from "../../agent/definitions/definition.js";
import { findDefinition } from "../../agent/definitions/index.js";
import { colours } from "../colours.js";
import { defaults } from "../defaults.js";
import { cwdOf, type MemberSpec } from "../member-plan.js";
import { chooseModel } from "../model-choice.js";
import type { MemberRecord } from "../records.js";
import type { AgentSpec } from "../runtime/agent-spec.js";
import type { HostContext } from "./context.js";

type EmbeddedSpec = MemberSpec & { readonly agent?: string | undefined };

/** What one incarnation of an embedded agent needs to run, from what the team file says of it, and who is there now. */
export function agentSpecOf(
  context: HostContext,
  spec: EmbeddedSpec,
  record: MemberRecord,
  keyFile: string,
  runDir: string,
): AgentSpec {
  const definition = definitionOf(spec);
  return {
    v: 1,
    home: context.paths.home,
    dirName: context.paths.dirName,
    team: context.record.name,
    id: record.id,
    name: record.name,
    agentId: record.agentId,
    incarnation: record.incarnation,
    role: spec.name === "lead" ? "lead" : "teammate",
    reportsTo: context.record.lead,
    ...colleaguesOf(context, record),
    agentType: definition.name,
    ...(spec.prompt === undefined ? {} : { prompt: spec.prompt }),
    model: modelOf(context, spec),
    ...(context.modelScript === undefined ? {} : { modelScript: context.modelScript }),
    permissionMode: spec.permissionMode ?? "default",
    colour: colours[record.colour],
    cwd: cwdOf(context.record.projectRoot, spec),
    maxTurns: spec.maxTurns ?? definition.maxTurns ?? defaults.maxTurns,
    orphanTimeoutMs: (context.file.limits?.orphanTimeout ?? defaults.orphanTimeoutMs / 1000) * 1000,
    keyFile,
    runDir,
  };
}

/** The model of an embedded agent: `offline` or an id. */
export function modelOf({ model: team }: HostContext, spec: EmbeddedSpec): string {
  return chooseModel({ own: spec.model, definition: definitionOf(spec).model, team });
}

function definitionOf({ agent = "" }: EmbeddedSpec): AgentDefinition {
  return findDefinition(agent);
}

/**
 * The others that run or start, the lead before all. An agent of a large team is told of some and how many more there are: a
 * thousand names in each of a thousand system prompts would be all that a host does.
 */
function colleaguesOf({ roster }: HostContext, { name }: MemberRecord) {
  const others = roster
    .all()
    .filter(({ kind, state, name: other }) => kind !== "user" && state !== "ended" && other !== name);
  return {
    colleagues: others.slice(0, mostColleagues).map((member) => ({ name: member.name, what: member.what })),
    furtherColleagues: Math.max(0, others.length - mostColleagues),
  };
}

const mostColleagues = 30;
