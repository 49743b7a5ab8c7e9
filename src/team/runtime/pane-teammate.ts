import { createBackoff } from "../../agent/model/backoff.js";
import { TroupeError } from "../../util/errors.js";
import { selfIdentity } from "../../util/process-identity.js";
import { delay } from "../../util/wait.js";
import type { TeamEvent, TeamEventBody } from "../events.js";
import { type HostConnection, requireHost } from "../host/client.js";
import type { MemberReport } from "../host/protocol.js";
import { teamPaths } from "../paths.js";
import { readHostRecord } from "../records.js";
import type { AgentSpec } from "./agent-spec.js";
import { runTeammate } from "./teammate.js";

/**
 * Runs an embedded teammate as this process's whole work: says hello to the host, reports to it, and shows every event to
 * `onEvent` too. Resolves when it was asked to end. If the host dies, the teammate finishes its turn, waits, and ends
 * with TroupeError `orphaned` after its orphan timeout.
 */
export async function runPaneTeammate(
  spec: AgentSpec,
  options: {
    readonly env: Readonly<Record<string, string>>;
    readonly onEvent: (event: TeamEvent) => void;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const paths = teamPaths(spec.home, spec.dirName);
  const host = await requireHost(paths, options.signal);
  const { name, incarnation } = spec;
  await host.request("hello", { name, incarnation, process: selfIdentity() }, { signal: options.signal });
  const orphaned = new AbortController();
  const ended = new AbortController();
  const show = (body: TeamEventBody): void =>
    options.onEvent({ at: new Date().toISOString(), ...body } as TeamEvent);
  const report = (news: MemberReport): void => {
    host.tell("report", news);
    if (news.type === "event") options.onEvent(news.event);
    else show({ type: "member-state", name, ...news.state });
  };
  const orphanWatch = watchHost(host, spec, show, ended.signal).then((lost) => {
    if (lost !== undefined) orphaned.abort(lost);
  });
  try {
    await runTeammate(spec, {
      env: options.env,
      backoff: createBackoff(),
      report,
      started: () => undefined,
      signal: AbortSignal.any([options.signal, orphaned.signal]),
    });
  } finally {
    ended.abort(new Error("the teammate has ended"));
    host.close();
    await orphanWatch;
  }
}

/** Gives the reason to end once the host has been gone for the orphan timeout; undefined if that never came about. */
async function watchHost(
  host: HostConnection,
  spec: AgentSpec,
  show: (body: TeamEventBody) => void,
  ended: AbortSignal,
): Promise<TroupeError | undefined> {
  await host.closed;
  if (ended.aborted) return undefined;
  const paths = teamPaths(spec.home, spec.dirName);
  const orderly = readHostRecord(paths)?.endedAt !== undefined;
  const seconds = Math.round(spec.orphanTimeoutMs / 1000);
  show({
    type: "notice",
    level: "warning",
    name: spec.name,
    text: orderly
      ? "the team has ended"
      : `the host of this team is gone; this teammate ends in ${seconds} s (troupe down --team ${spec.dirName} ends it now)`,
  });
  try {
    await delay(orderly ? 0 : spec.orphanTimeoutMs, ended);
  } catch (error) {
    if (ended.aborted) return undefined;
    throw error;
  }
  return new TroupeError("orphaned", `the host of ${spec.team} has been gone for ${seconds} s`);
}
