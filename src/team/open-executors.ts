import path from "node:path";
import { createInProcessExecutor } from "../../backends/in-process.js";
import type { TmuxExecutorOptions } from "../../backends/tmux/executor.js";
import { tmuxAround } from "../../backends/tmux/inside-place.js";
import type { PaneTags } from "../../backends/tmux/pane-tags.js";
import type { DeliverMessage, TeammateExecutor } from "../../backends/types.js";
import { type Message, openMailbox } from "../../mailbox/index.js";
import type { Backoff } from "../agent/model/backoff.js";
import { TroupeError } from "../util/errors.js";
import type { MemberReport } from "./host/protocol.js";
import type { LocatedTeam } from "./locate.js";
import type { MemberRecord } from "./records.js";
import { mailboxOf, memberNamed } from "./send.js";
import { tmuxProgram } from "./tmux-program.js";
import { tmuxLockDir } from "./tmux-remains.js";

type Env = Readonly<Record<string, string | undefined>>;

/** The executors of one host: one for its own process, where an agent lead runs, and one for everybody else. */
export interface Executors {
  readonly own: TeammateExecutor;
  readonly members: TeammateExecutor;
  /** Where members run in panes: opens the look at those of one tmux server. Starts nothing. */
  readonly paneTags?: (socket: string) => Promise<PaneTags>;
  close(): Promise<void>;
}

/** What the executors of a host tell it. */
export interface ExecutorNews {
  report(name: string, incarnation: string, report: MemberReport): void;
  /** A member in this process, or its child, has ended; `error` is what the run of an embedded agent threw. */
  ended(name: string, error?: unknown): void;
  output(name: string, line: string): void;
  note(text: string): void;
}

/** Opens the executors of a new host. Nothing is started. */
export async function openExecutors(options: {
  readonly team: LocatedTeam;
  readonly env: Env;
  readonly place: "inside" | "own";
  readonly userConfig: boolean;
  readonly troupe: readonly string[];
  readonly backoff: Backoff;
  readonly news: ExecutorNews;
}): Promise<Executors> {
  const { team, news } = options;
  const own = createInProcessExecutor({
    run: async ({ runDir, env }, started, signal, revoked) => {
      // A host whose agents all have processes of their own does without.
      const [{ readAgentSpec, specFile }, { runTeammate }] = await Promise.all([
        import("./runtime/agent-spec.js"),
        import("./runtime/teammate.js"),
      ]);
      const spec = readAgentSpec(specFile(runDir));
      const { name, incarnation } = spec;
      const report = (of: MemberReport): void => news.report(name, incarnation, of);
      await runTeammate(spec, { env, backoff: options.backoff, report, started, signal, revoked });
    },
    deliver: deliverTo(team),
    onEnded: (agentId, _end, error) => news.ended(nameOf(agentId), error),
    onOutput: (agentId, line) => news.output(nameOf(agentId), line),
    onNote: (text) => news.note(text),
  });
  const members = await openMembers(options, own);
  return {
    own,
    members,
    ...(team.record.backend.type === "tmux" ? { paneTags: paneTagsIn(options.env) } : {}),
    async close() {
      if (members !== own) await members.close?.();
      await own.close?.();
    },
  };
}

async function openMembers(
  options: Parameters<typeof openExecutors>[0],
  own: TeammateExecutor,
): Promise<TeammateExecutor> {
  const { team, env, news } = options;
  switch (team.record.backend.type) {
    case "tmux":
      return openTmux(team, { env, place: placeFor(team, options), note: news.note });
    case "iterm2":
      return openIterm2(team, { env, note: news.note });
    case "in-process":
      return own;
  }
}

function paneTagsIn(env: Env): NonNullable<Executors["paneTags"]> {
  return async (socket) => {
    const { openPaneTags } = await import("../../backends/tmux/pane-tags.js");
    return openPaneTags({ program: tmuxProgram(env), socket, env });
  };
}

/** Opens an executor that knows one member of a team whose host may be another process, or dead; to end or show it. */
export async function openMemberExecutor(
  team: LocatedTeam,
  member: MemberRecord,
  env: Env,
): Promise<TeammateExecutor> {
  if (member.ref?.backend === "iterm2") {
    const executor = await openIterm2(team, { env });
    await executor.adopt?.(member.ref);
    return executor;
  }
  const socket = member.ref?.server?.socket;
  if (member.ref?.backend !== "tmux" || socket === undefined)
    throw new TroupeError("no-pane", `${member.name} has no pane`, {
      remedy: `troupe attach ${member.name} --view`,
    });
  const place =
    socket === path.join(team.paths.sockets, "tmux.sock")
      ? ({ kind: "own", runDir: team.paths.sockets } as const)
      : ({ kind: "inside", socket } as const);
  const executor = await openTmux(team, { env, place });
  await executor.adopt?.(member.ref);
  return executor;
}

/** Where this host's panes go. Throws TroupeError `no-pane` if the pane that it was called from is not known. */
function placeFor(
  { paths }: LocatedTeam,
  options: Pick<Parameters<typeof openExecutors>[0], "env" | "place" | "userConfig" | "troupe">,
): TmuxPlace {
  const leadArgv = [...options.troupe, "attach", "--view", "--team", paths.dirName];
  if (options.place === "own")
    return { kind: "own", runDir: paths.sockets, userConfig: options.userConfig, leadArgv };
  const around = tmuxAround(options.env);
  if (around !== undefined) return { kind: "inside", ...around };
  throw new TroupeError("no-pane", "TMUX and TMUX_PANE name no pane to open others beside");
}

type TmuxPlace = TmuxExecutorOptions["place"];

async function openTmux(
  team: LocatedTeam,
  options: {
    readonly env: Env;
    readonly place: TmuxPlace;
    readonly note?: (text: string) => void;
  },
): Promise<TeammateExecutor> {
  const { createTmuxExecutor } = await import("../../backends/tmux/executor.js");
  const { paths, record } = team;
  return createTmuxExecutor({
    place: options.place,
    team: record.name,
    teamId: paths.root,
    env: { ...options.env, TROUPE_HOME: paths.home },
    deliver: deliverTo(team),
    lockDir: tmuxLockDir(
      paths.home,
      options.place.kind === "inside" ? options.place.socket : options.place.runDir,
    ),
    tmux: tmuxProgram(options.env),
    ...(options.note === undefined ? {} : { onNote: options.note }),
  });
}

async function openIterm2(
  team: LocatedTeam,
  { env, note }: { readonly env: Env; readonly note?: (text: string) => void },
): Promise<TeammateExecutor> {
  const { createIterm2Executor } = await import("../../backends/iterm2/executor.js");
  const { paths } = team;
  return createIterm2Executor({
    env,
    deliver: deliverTo(team),
    teamId: paths.root,
    lockDir: path.join(paths.home, "locks", "iterm2"),
    ...(note === undefined ? {} : { onNote: note }),
  });
}

function deliverTo(team: LocatedTeam): DeliverMessage {
  return async (agentId, message) => {
    await openMailbox(mailboxOf(team.paths, memberNamed(team, nameOf(agentId)))).send(message as Message);
  };
}

function nameOf(agentId: string): string {
  return agentId.slice(0, agentId.lastIndexOf("@"));
}
