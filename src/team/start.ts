import { generateKeyPairSync } from "node:crypto";
import os from "node:os";
import path from "node:path";
import * as z from "zod";
import { loadPty } from "../../backends/pty.js";
import { createBackoff } from "../agent/model/backoff.js";
import { TroupeError } from "../util/errors.js";
import { createSlots } from "../util/slots.js";
import { carryMail } from "./carry-mail.js";
import { openEventHub } from "./event-hub.js";
import type { TeamEvent } from "./events.js";
import type { HostContext } from "./host/context.js";
import { createGreetings } from "./host/greetings.js";
import { type Host, openHost } from "./host/host.js";
import { createRoster } from "./host/roster.js";
import type { LocatedTeam } from "./locate.js";
import { memberEnv } from "./member-env.js";
import { checkPlan, membersOf } from "./member-plan.js";
import { openExecutors } from "./open-executors.js";
import type { TeamPaths } from "./paths.js";
import { createPostman } from "./postman.js";
import { type PreparedTeam, prepareTeam, undoPrepare } from "./prepare.js";
import { readMembers, type TeamRecord } from "./records.js";
import { teamFileSchema } from "./team-file/schema.js";

/** What starts a team, in this process or in a detached host: plain JSON. */
export const startRequestSchema = z.object({
  file: teamFileSchema,
  home: z.string(),
  projectRoot: z.string(),
  backend: z.object({
    type: z.enum(["tmux", "iterm2", "in-process"]),
    reason: z.string(),
    /** tmux: beside the pane that it was asked for from, or on a server of the team's own. */
    place: z.enum(["inside", "own"]).optional(),
  }),
  /** Model of agents that name none; `offline` for all. */
  model: z.string().optional(),
  /** Absolute. */
  modelScript: z.string().optional(),
  /** The command that runs this troupe. */
  troupe: z.array(z.string()).min(1),
});

export type StartRequest = z.infer<typeof startRequestSchema>;

export interface StartedTeam {
  readonly host: Host;
  readonly paths: TeamPaths;
  readonly record: TeamRecord;
}

/** Refuses a request that cannot work, before anything exists. Throws TroupeError. */
async function checkStart(
  request: StartRequest,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  if (request.modelScript !== undefined) {
    const { loadOfflineScript } = await import("../agent/model/offline/load-script.js");
    loadOfflineScript(request.modelScript);
  }
  for (const spec of membersOf(request.file))
    checkPlan(spec, { projectRoot: request.projectRoot, model: request.model, env });
}

/** Refuses programs that need a terminal where one process runs all and has none to give. Throws TroupeError. */
async function checkTerminals({ backend, file }: StartRequest): Promise<void> {
  const needy = file.teammates.find(({ input }) => input === "terminal");
  if (backend.type !== "in-process" || needy === undefined) return;
  const pty = await loadPty();
  if (!("missing" in pty)) return;
  throw new TroupeError(
    "no-terminal",
    `${needy.name} has input: terminal, and there is none: ${pty.missing}`,
    {
      kind: "unavailable",
      remedy:
        "use --backend tmux, or install troupe with its optional dependencies (without --omit=optional)",
    },
  );
}

/**
 * Makes this process the host of a new team and opens its socket; `host.start()` then starts the members. `onEvent` gets
 * every event from the first on. A start that fails leaves nothing.
 */
export async function startTeam(
  request: StartRequest,
  options: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly onEvent?: (event: TeamEvent) => void;
    readonly signal: AbortSignal;
  },
): Promise<StartedTeam> {
  await checkStart(request, options.env);
  await checkTerminals(request);
  const prepared = await prepareTeam({
    home: request.home,
    name: request.file.name,
    projectRoot: request.projectRoot,
    lead: request.file.lead === undefined ? "user" : "lead",
    backend: { type: request.backend.type, reason: request.backend.reason },
    ...(request.file.channels === undefined ? {} : { channels: request.file.channels }),
    troupe: request.troupe,
  });
  try {
    return { ...prepared, host: await hostOf(prepared, request, options) };
  } catch (error) {
    await undoPrepare(prepared);
    throw error;
  }
}

async function hostOf(
  { paths, record, lock, archived }: PreparedTeam,
  request: StartRequest,
  options: Parameters<typeof startTeam>[1],
): Promise<Host> {
  const team = { paths, record };
  const archiveNote = archived === undefined ? undefined : await noteOnArchive(archived.dir, team, request);
  const hub = openEventHub(paths.events);
  if (options.onEvent !== undefined) hub.listen(options.onEvent);
  const roster = createRoster(paths, hub);
  for (const member of readMembers(paths)) await roster.put(member);
  const keys = generateKeyPairSync("ed25519");
  let host: Host | undefined;
  const env = memberEnv(options.env);
  const executors = await openExecutors({
    team,
    env: options.env,
    place: request.backend.place ?? "own",
    userConfig: request.file.tmux?.userConfig ?? true,
    troupe: request.troupe,
    backoff: createBackoff(),
    news: {
      report: (name, incarnation, report) => host?.report(name, incarnation, report),
      ended: (name, error) => host?.ended(name, error),
      output: (name, line) => hub.emit({ type: "output", name, line }),
      note: (text) => hub.emit({ type: "notice", level: "info", text }),
    },
  });
  const context: HostContext = {
    paths,
    record,
    file: request.file,
    roster,
    hub,
    executorFor: (member) => (member.name === "lead" ? executors.own : executors.members),
    executors,
    postman: createPostman({ team, from: "host", privateKey: keys.privateKey }),
    env,
    troupe: request.troupe,
    model: request.model,
    modelScript: request.modelScript,
    starting: new AbortController(),
    greeted: createGreetings(),
    slots: {
      agentProcesses: createSlots(Math.max(8, 2 * os.availableParallelism())),
      others: createSlots(32),
    },
    settling: new Set(),
    signal: options.signal,
  };
  const publicKey = keys.publicKey.export({ format: "der", type: "spki" }).toString("base64url");
  host = await openHost(context, { publicKey });
  if (archiveNote !== undefined) hub.emit({ type: "notice", level: "info", text: archiveNote });
  void host.closed.then(() => lock.release());
  return host;
}

/** Carries unread mail over from the files of an ended team, and tells of both. */
async function noteOnArchive(dir: string, team: LocatedTeam, { file }: StartRequest): Promise<string> {
  const names = membersOf(file).map(({ name }) => name);
  const mail = path.join(dir, path.basename(team.paths.mail));
  const { carried, left, troubles } = await carryMail(mail, team, names);
  return [
    `an ended team of this name was archived: ${dir}`,
    ...(carried > 0 ? [`unread mail that came along: ${carried}`] : []),
    ...(left > 0 ? [`unread mail that is only there: ${left}`] : []),
    ...troubles.map((trouble) => `not carried over: ${trouble}`),
  ].join("; ");
}
