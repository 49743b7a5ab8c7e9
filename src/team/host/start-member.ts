import { randomBytes } from "node:crypto";
import type { TeammateLaunch, TeammateSpawnConfig, TeammateSpawnResult } from "../../../backends/types.js";
import { createMailbox } from "../../../mailbox/index.js";
import { findDefinition } from "../../agent/definitions/index.js";
import { messageOf, TroupeError } from "../../util/errors.js";
import { ensureDirSync, writeJsonAtomic } from "../../util/fs.js";
import { identityOf, type ProcessIdentity, selfIdentity } from "../../util/process-identity.js";
import { oneLine } from "../../util/text.js";
import { waitUntil } from "../../util/wait.js";
import { colourAt, colours } from "../colours.js";
import { defaults } from "../defaults.js";
import { createMemberKeys, saveMemberKey } from "../keys.js";
import { checkPlan, commandLine, cwdOf, type MemberSpec } from "../member-plan.js";
import { memberRunDir } from "../paths.js";
import type { MemberRecord } from "../records.js";
import { specFile } from "../runtime/agent-spec.js";
import { mailboxOf } from "../send.js";
import { agentSpecOf, modelOf } from "./agent-spec-of.js";
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
  const keys = createMemberKeys();
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
  const model = spec.agent === undefined ? undefined : modelOf(context, spec);
  const withModel = model === undefined ? record : { ...record, model };
  // Nothing has been waited for since the check: the name and the place are taken now, whoever else asks meanwhile.
  const giveBack = roster.reserve(withModel);
  let keyFile: string;
  try {
    [keyFile] = await Promise.all([saveMemberKey(runDir, keys), createMailbox(mailboxOf(paths, spec.name))]);
    // All who start together have taken their names by now.
    if (model !== undefined)
      await writeJsonAtomic(specFile(runDir), agentSpecOf(context, spec, withModel, keyFile, runDir));
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
    ...(model === undefined ? {} : { model: model === "offline" ? "offline (scripted)" : model }),
  });
  const isProcess = model !== undefined && context.executorFor(record).type !== "in-process";
  const slots = isProcess ? context.slots.agentProcesses : context.slots.others;
  const result = await slots(
    () => launch(context, spec, record, keyFile, runDir),
    context.starting.signal,
  ).catch(notLaunched);
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
  const process = result.ref.process ?? processOf(result.pid);
  roster.update(spec.name, incarnation, { ref: result.ref, ...(process === undefined ? {} : { process }) });
  if (model === undefined)
    roster.setState(
      spec.name,
      incarnation,
      { state: "working", since: new Date().toISOString() },
      record.what,
    );
  await roster.flush();
  return roster.find(spec.name) ?? withModel;
}

/** An agent in this process has no other. */
function processOf(pid: number): ProcessIdentity | undefined {
  return pid === process.pid ? selfIdentity() : identityOf(pid);
}

/** In a slot: what starts side by side has to be there before its deadline, on a machine with few processors too. */
async function launch(
  context: HostContext,
  spec: MemberSpec,
  record: MemberRecord,
  keyFile: string,
  runDir: string,
): Promise<TeammateSpawnResult> {
  if (!isStarting(context, record)) return stoppedBefore;
  const hello = context.greeted.expect(record.incarnation);
  try {
    const result = await spawn(context, spec, record, keyFile, runDir);
    const hasOwnProcess = result.ok && record.kind === "agent" && result.ref.process !== undefined;
    return hasOwnProcess ? await greeting(context, record, result, hello) : result;
  } finally {
    context.greeted.forget(record.incarnation);
  }
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

function notLaunched(error: unknown): TeammateSpawnResult {
  return { ok: false, code: "backend-failed", reason: messageOf(error), screen: "" };
}

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
  return context.executorFor(record).spawn(config, context.starting.signal);
}

/** An agent in a process of its own is there when it has said hello; until then its process may still be failing. */
async function greeting(
  context: HostContext,
  { name, agentId }: MemberRecord,
  spawned: Extract<TeammateSpawnResult, { ok: true }>,
  hello: Promise<void>,
): Promise<TeammateSpawnResult> {
  const executor = context.executorFor({ name });
  const { starting } = context;
  const over = new AbortController();
  try {
    const silence = waitUntil(
      `${name} to say hello`,
      async () => (await executor.isActive(agentId)) === "gone" && ("gone" as const),
      {
        timeoutMs: defaults.spawnDeadlineMs,
        everyMs: 100,
        signal: AbortSignal.any([starting.signal, over.signal]),
      },
    ).catch((error: unknown) => ({ error }));
    const seen = await Promise.race([hello.then(() => "hello" as const), silence]);
    if (seen === "hello") return spawned;
    const screen = (await executor.capture?.(agentId, 10)) ?? "";
    await executor.kill(agentId);
    return seen === "gone"
      ? { ok: false, code: "exited", reason: "it ended before it said hello", screen }
      : { ok: false, code: "deadline", reason: messageOf(seen.error), screen };
  } finally {
    over.abort();
  }
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
