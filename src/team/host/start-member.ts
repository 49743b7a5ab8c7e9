import { randomBytes } from "node:crypto";
import type { TeammateLaunch, TeammateSpawnConfig, TeammateSpawnResult } from "../../../backends/types.js";
import { createMailbox } from "../../../mailbox/index.js";
import { findDefinition } from "../../agent/definitions/index.js";
import { messageOf, TroupeError } from "../../util/errors.js";
import { ensureDirSync, writeJsonAtomic } from "../../util/fs.js";
import { nameKey } from "../../util/name-key.js";
import { identityOf } from "../../util/process-identity.js";
import { oneLine } from "../../util/text.js";
import { waitUntil } from "../../util/wait.js";
import { colourAt, colours } from "../colours.js";
import { defaults } from "../defaults.js";
import { createMemberKeys } from "../keys.js";
import { checkPlan, cwdOf, type MemberSpec, membersOf } from "../member-plan.js";
import { chooseModel } from "../model-choice.js";
import { memberRunDir } from "../paths.js";
import type { MemberRecord } from "../records.js";
import { type AgentSpec, specFile } from "../runtime/agent-spec.js";
import { mailboxOf } from "../send.js";
import type { HostContext } from "./context.js";

/** Checks what can be refused before anything is written. Throws TroupeError. */
export function checkMemberSpec(context: HostContext, spec: MemberSpec): void {
  checkPlan(spec, { projectRoot: context.record.projectRoot, model: context.model, env: context.env });
  const existing = context.roster.find(spec.name);
  if (existing !== undefined && existing.state !== "ended")
    throw new TroupeError("name-taken", `${existing.name} is a member already (${existing.state})`, {
      kind: "usage",
      remedy: `another name, or first: troupe stop ${existing.name}`,
    });
  const running = context.roster
    .all()
    .filter(({ kind, state }) => kind !== "user" && state !== "ended").length;
  const most = context.file.limits?.teammates ?? defaults.maxTeammates;
  if (running >= most + (context.record.lead === "lead" ? 1 : 0))
    throw new TroupeError("too-many", `${most} teammates run already, the limit of this team`, {
      kind: "limit",
      remedy: "stop one, or raise limits.teammates in the team file",
    });
}

/**
 * Starts one incarnation of a member: mailbox, keys, record, then the executor. Resolves with the record when it is
 * proven alive. A failed start leaves the record, `ended` and with the reason, the mailbox, and nothing that runs.
 */
export async function startMember(context: HostContext, spec: MemberSpec): Promise<MemberRecord> {
  checkMemberSpec(context, spec);
  const { paths, roster, hub } = context;
  const before = roster.find(spec.name);
  const incarnation = randomBytes(4).toString("hex");
  const runDir = memberRunDir(paths, incarnation);
  ensureDirSync(runDir);
  const keys = createMemberKeys(runDir);
  const order = before?.order ?? roster.all().length;
  const colour = ("color" in spec ? spec.color : undefined) ?? before?.colour ?? colourAt(order - 1);
  const record: MemberRecord = {
    v: 1,
    id: before?.id ?? randomBytes(4).toString("hex"),
    order,
    name: spec.name,
    agentId: `${spec.name}@${context.record.name}`,
    kind: spec.agent === undefined ? "command" : "agent",
    what: spec.agent === undefined ? commandLine(spec) : findDefinition(spec.agent).name,
    colour,
    service: "service" in spec && spec.service === true,
    ...("input" in spec && spec.input !== undefined ? { input: spec.input } : {}),
    incarnation,
    publicKey: keys.publicKey,
    state: "starting",
    since: new Date().toISOString(),
  };
  const agent =
    spec.agent === undefined ? undefined : agentSpecOf(context, spec, record, keys.keyFile, runDir);
  const withModel = agent === undefined ? record : { ...record, model: agent.model };
  // Nothing has been waited for since the check: the name and the place are taken now, whoever else asks meanwhile.
  const giveBack = roster.reserve(withModel);
  try {
    await createMailbox(mailboxOf(paths, spec.name));
    if (agent !== undefined) await writeJsonAtomic(specFile(runDir), agent);
    await roster.put(roster.find(spec.name) ?? withModel);
  } catch (error) {
    giveBack();
    throw error;
  }
  hub.emit({
    type: "member-joined",
    name: record.name,
    what: record.what,
    colour,
    ...(agent === undefined ? {} : { model: agent.model === "offline" ? "offline (scripted)" : agent.model }),
  });
  let result = isStarting(context, record)
    ? await spawn(context, spec, record, keys.keyFile, runDir)
    : stoppedBefore;
  if (result.ok && agent !== undefined && result.ref.process !== undefined)
    result = await greeting(context, record, result);
  if (!result.ok) {
    const detail = [result.reason, oneLine(result.screen, 300)].filter(Boolean).join(": ");
    roster.setState(spec.name, incarnation, {
      state: "ended",
      reason: "failed",
      detail,
      since: new Date().toISOString(),
    });
    await roster.flush();
    throw new TroupeError("spawn-failed", `${spec.name} did not start: ${detail}`, {
      remedy: `what it wrote: troupe logs ${spec.name}`,
    });
  }
  const process = result.ref.process ?? identityOf(result.pid);
  roster.update(spec.name, incarnation, { ref: result.ref, ...(process === undefined ? {} : { process }) });
  if (agent === undefined)
    roster.setState(
      spec.name,
      incarnation,
      { state: "working", since: new Date().toISOString() },
      record.what,
    );
  await roster.flush();
  return roster.find(spec.name) ?? withModel;
}

/** Nobody has ended it since it took its name. From its spawn on, an end reaches it through the executor. */
function isStarting({ roster }: HostContext, { name, incarnation }: MemberRecord): boolean {
  const now = roster.find(name);
  return now?.incarnation === incarnation && now.state === "starting";
}

const stoppedBefore: TeammateSpawnResult = {
  ok: false,
  code: "aborted",
  reason: "it was ended before it was started",
  screen: "",
};

async function spawn(
  context: HostContext,
  spec: MemberSpec,
  record: MemberRecord,
  keyFile: string,
  runDir: string,
): Promise<TeammateSpawnResult> {
  const { file, paths } = context;
  const config: TeammateSpawnConfig = {
    agentId: record.agentId,
    name: record.name,
    team: context.record.name,
    colour: colours[record.colour],
    cwd: cwdOf(context.record.projectRoot, spec),
    env: {
      ...context.env,
      ...("env" in spec ? spec.env : {}),
      PATH: `${paths.bin}:${context.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"}`,
      TROUPE_HOME: paths.home,
      TROUPE_TEAM: paths.dirName,
      TROUPE_AGENT_ID: record.agentId,
      TROUPE_KEY_FILE: keyFile,
    },
    launch: launchOf(context, spec, runDir),
    runDir,
    placement: {
      layout: file.layout ?? defaults.layout,
      leadWidth: file.leadWidth ?? defaults.leadWidth,
      maxPanesPerWindow: file.maxPanesPerWindow ?? defaults.maxPanesPerWindow,
    },
    deadlineMs: defaults.spawnDeadlineMs,
  };
  try {
    return await context.executorFor(record).spawn(config, context.starting.signal);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ok: false, code: "backend-failed", reason, screen: "" };
  }
}

/** An agent in a process of its own is there when it has said hello; until then its process may still be failing. */
async function greeting(
  context: HostContext,
  { name, agentId, incarnation }: MemberRecord,
  spawned: Extract<TeammateSpawnResult, { ok: true }>,
): Promise<TeammateSpawnResult> {
  const executor = context.executorFor({ name });
  const { greeted } = context;
  const { signal } = context.starting;
  const seen = await waitUntil(
    `${name} to say hello`,
    async () =>
      greeted.has(incarnation) ? "hello" : (await executor.isActive(agentId)) === "gone" && "gone",
    { timeoutMs: defaults.spawnDeadlineMs, everyMs: 50, signal },
  ).catch((error: unknown) => error);
  if (seen === "hello") return spawned;
  const screen = (await executor.capture?.(agentId, 10)) ?? "";
  await executor.kill(agentId);
  return seen === "gone"
    ? { ok: false, code: "exited", reason: "it ended before it said hello", screen }
    : { ok: false, code: "deadline", reason: messageOf(seen), screen };
}

function launchOf(context: HostContext, spec: MemberSpec, runDir: string): TeammateLaunch {
  if (spec.agent !== undefined)
    return { kind: "agent", argv: [...context.troupe, "teammate", specFile(runDir)] };
  const command = "command" in spec ? spec.command : undefined;
  return {
    kind: "argv",
    argv: typeof command === "string" ? ["/bin/sh", "-c", command] : (command ?? []),
    terminal: "input" in spec && spec.input === "terminal",
  };
}

function agentSpecOf(
  context: HostContext,
  spec: MemberSpec & { agent?: string | undefined },
  record: MemberRecord,
  keyFile: string,
  runDir: string,
): AgentSpec {
  const definition = findDefinition(spec.agent ?? "");
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
    colleagues: colleaguesOf(context, record.name),
    agentType: definition.name,
    ...(spec.prompt === undefined ? {} : { prompt: spec.prompt }),
    model: chooseModel({ own: spec.model, definition: definition.model, team: context.model }),
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

/** Members that run and, since all start together, those that the team file names. */
function colleaguesOf({ roster, file }: HostContext, name: string): { name: string; what: string }[] {
  const planned = membersOf(file).map((spec) => ({ name: spec.name, what: spec.agent ?? commandLine(spec) }));
  const running = roster.all().filter(({ state, kind }) => state !== "ended" && kind !== "user");
  const all = new Map([...planned, ...running].map((member) => [nameKey(member.name), member]));
  all.delete(nameKey(name));
  return [...all.values()].map((member) => ({ name: member.name, what: member.what }));
}

function commandLine(spec: MemberSpec): string {
  const command = "command" in spec ? spec.command : undefined;
  return oneLine(typeof command === "string" ? command : (command ?? []).join(" "), 120);
}
