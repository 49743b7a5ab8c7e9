import path from "node:path";
import { onTestFinished } from "vitest";
import type { Message } from "../../../mailbox/index.js";
import { createBackoff } from "../../../src/agent/model/backoff.js";
import type { TeamEvent } from "../../../src/team/events.js";
import type { MemberState } from "../../../src/team/member-state.js";
import { memberRunDir } from "../../../src/team/paths.js";
import type { AgentSpec } from "../../../src/team/runtime/agent-spec.js";
import { runTeammate, type Surroundings } from "../../../src/team/runtime/teammate.js";
import { waitUntil } from "../../../src/util/wait.js";
import {
  type LoggedRequest,
  type MessagesServer,
  type ServerTurn,
  startMessagesServer,
} from "../../helpers/messages-server.js";
import type { LivingTeam } from "../living-team.js";

/** A teammate that runs in this process until the test is over. */
export interface RunningTeammate {
  readonly spec: AgentSpec;
  readonly states: readonly MemberState[];
  readonly events: readonly TeamEvent[];
  /** How its run ended: undefined if it was asked to, else what it threw. */
  readonly ended: Promise<unknown>;
  /** Waits until it says that it is idle, whether it has worked or not. */
  ready(): Promise<MemberState>;
  /** Waits for the end of its `count`-th stretch of work. */
  idle(count?: number): Promise<MemberState>;
  /** Waits for an event of the agent itself. */
  event(type: string): Promise<unknown>;
  stop(reason: Error): void;
}

/** The description of a member of `team`; `run` tells one run directory from another. */
export function specOf(team: LivingTeam, name: string, more: Partial<AgentSpec> = {}): AgentSpec {
  const { incarnation, agentId, id } = team.member(name);
  const runDir = memberRunDir(team.paths, incarnation);
  return {
    v: 1,
    home: team.paths.home,
    dirName: team.paths.dirName,
    team: team.record.name,
    id,
    name,
    agentId,
    incarnation,
    role: name === "lead" ? "lead" : "teammate",
    reportsTo: team.record.lead,
    colleagues: [],
    furtherColleagues: 0,
    agentType: "Explore",
    model: "test-model",
    permissionMode: "bypassPermissions",
    colour: 33,
    cwd: team.made.project,
    maxTurns: 20,
    orphanTimeoutMs: 1000,
    keyFile: path.join(runDir, "key.pem"),
    runDir,
    ...more,
  };
}

/** The environment that points a teammate to a model's server. */
export function envFor(server: MessagesServer, team: LivingTeam): Record<string, string> {
  return {
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: "sk-test",
    PATH: process.env["PATH"] ?? "",
    HOME: team.made.root,
  };
}

/** A model that plays `turns`; closed when the running test is over. */
export async function model(
  turns:
    | readonly ServerTurn[]
    | ((request: LoggedRequest, index: number) => Promise<ServerTurn> | ServerTurn),
): Promise<MessagesServer> {
  const server = await startMessagesServer({ turns });
  onTestFinished(() => server.close());
  return server;
}

export function run(
  team: LivingTeam,
  server: MessagesServer,
  spec: AgentSpec,
  around: Pick<Surroundings, "toolGraceMs" | "revoked"> = {},
): RunningTeammate {
  const states: MemberState[] = [];
  const events: TeamEvent[] = [];
  const stop = new AbortController();
  const ended = runTeammate(spec, {
    ...around,
    env: envFor(server, team),
    backoff: createBackoff({ baseMs: 10 }),
    report: (news) => void (news.type === "state" ? states.push(news.state) : events.push(news.event)),
    started: () => undefined,
    signal: stop.signal,
  }).then(
    () => undefined,
    (error: unknown) => error,
  );
  onTestFinished(async () => {
    stop.abort(new Error("the test is over"));
    await ended;
  });
  return {
    spec,
    states,
    events,
    ended,
    stop: (reason) => stop.abort(reason),
    ready: () =>
      waitUntil(`${spec.name} to be ready`, () => states.find(({ state }) => state === "idle"), {
        timeoutMs: 20_000,
      }),
    idle: (count = 1) =>
      waitUntil(
        `${spec.name} to have worked`,
        () =>
          states.filter(({ state }, i) => state === "idle" && states[i - 1]?.state === "working")[count - 1],
        { timeoutMs: 20_000 },
      ),
    event: (type) =>
      waitUntil(
        `${spec.name}: ${type}`,
        () => events.find((event) => event.type === "agent" && event.event.type === type),
        { timeoutMs: 20_000 },
      ),
  };
}

/** The text blocks of a request's last message, and the types of all its blocks. */
export function lastMessage(request: LoggedRequest | undefined): { types: string[]; text: string } {
  const content = request?.body.messages.at(-1).content as { type: string; text?: string }[];
  return {
    types: content.map(({ type }) => type),
    text: content.flatMap(({ text }) => text ?? []).join("\n"),
  };
}

/** What matters of mail: its kind, text, and what it answers. */
export function brief(messages: readonly Message[]): unknown[] {
  return messages.map(({ from, kind, text, inReplyTo, reason }) => ({
    from,
    kind,
    text,
    ...(inReplyTo === undefined ? {} : { inReplyTo }),
    ...(reason === undefined ? {} : { reason }),
  }));
}
