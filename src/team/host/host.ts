import { messageOf, TroupeError } from "../../util/errors.js";
import { selfIdentity } from "../../util/process-identity.js";
import { oneLine } from "../../util/text.js";
import { version } from "../../util/version.js";
import { delay } from "../../util/wait.js";
import { defaults } from "../defaults.js";
import { namesIn } from "../event-hub.js";

import type { TeamEvent } from "../events.js";
import { membersOf } from "../member-plan.js";
import { type HostRecord, type MemberRecord, writeRecord } from "../records.js";
import { memberNamed } from "../send.js";
import type { HostContext } from "./context.js";
import { workDone } from "./done.js";
import { endMember } from "./end-member.js";
import { launchGuard } from "./guard.js";
import { memberGone } from "./member-gone.js";
import type { EndReport, HostResult, MemberReport } from "./protocol.js";
import { type Connection, type ControlServer, type HostHandlers, listen } from "./server.js";
import { startMember } from "./start-member.js";
import { watchUserMail } from "./user-mail.js";
import { watchMembers } from "./watch-members.js";

/** How a team's work ended. */
export interface Outcome {
  /** Members that failed or were lost; the lead among them if its last turn failed. */
  readonly failed: readonly string[];
  /** The lead agent's last words; empty where the user leads. */
  readonly text: string;
}

/** The one process that keeps a running team, as the rest of this process sees it. */
export interface Host {
  /** Starts all members of the team file, side by side. A member that cannot start is told, and does not stop the others. */
  start(): Promise<void>;
  /** Takes a member's report; from its socket, or straight from this process. */
  report(name: string, incarnation: string, report: MemberReport): void;
  /** A member in this process, or its child, has ended; `error` is what the run of an embedded agent threw. */
  ended(name: string, error?: unknown): void;
  /** Resolves when every member has ended: such a host has nothing left to keep. Rejects with the signal's reason. */
  lastEnded(signal: AbortSignal): Promise<void>;
  /** Resolves when the work is done. */
  done(signal: AbortSignal): Promise<Outcome>;
  /** Ends all members and then the host itself. Idempotent: later calls get the first one's reports. */
  down(options?: { readonly reason?: string; readonly timeoutMs?: number }): Promise<readonly EndReport[]>;
  /** Attaches a terminal to the team's own session of panes; undefined where there is none. */
  watchCommand(): readonly string[] | undefined;
  /** Resolves when the host has ended. */
  readonly closed: Promise<void>;
}

/** Opens the host's socket and writes its record. The caller holds the team's lock and has made its directories. */
export async function openHost(
  context: HostContext,
  identity: { readonly publicKey: string },
): Promise<Host> {
  const { paths, roster, hub, record } = context;
  const started = Date.now();
  const over = new AbortController();
  const watch = new AbortController();
  const lastResults = new Map<string, { text: string; failed: boolean }>();
  let ready = false;
  let ending: Promise<readonly EndReport[]> | undefined;
  let settleStarted: () => void = () => undefined;
  const startedUp = new Promise<void>((resolve) => {
    settleStarted = resolve;
  });
  let settleClosed: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    settleClosed = resolve;
  });

  const hostRecord: HostRecord = {
    v: 1,
    version,
    process: selfIdentity(),
    publicKey: identity.publicKey,
    startedAt: new Date(started).toISOString(),
  };
  await writeRecord(paths.hostRecord, hostRecord);

  const warn = (name: string, error: unknown): void =>
    hub.emit({ type: "notice", level: "warning", name, text: oneLine(messageOf(error)) });

  const host: Host = {
    closed,
    watchCommand: () => context.executors.members.attachCommand?.(),
    async start() {
      await Promise.all(
        membersOf(context.file).map((spec) =>
          startMember(context, spec).catch((error: unknown) => {
            warn(spec.name, error);
          }),
        ),
      );
      ready = true;
      settleStarted();
    },
    report(name, incarnation, report) {
      if (roster.find(name)?.incarnation !== incarnation) return;
      if (report.type === "state") {
        roster.setState(name, incarnation, report.state, report.activity);
        return;
      }
      hub.relay(report.event);
      if (report.event.type === "agent" && report.event.event.type === "result") {
        const { result } = report.event.event;
        // A turn that only took note of something says nothing: the words before it still stand.
        lastResults.set(name, {
          text: result.text || (lastResults.get(name)?.text ?? ""),
          failed: result.status === "failed" || result.status === "refused",
        });
        roster.update(name, incarnation, { billed: result.billed, context: result.context });
      }
    },
    ended(name, error) {
      const member = roster.find(name);
      if (member === undefined || member.state === "starting") return;
      memberGone(context, member, error).catch((failure: unknown) => warn(name, failure));
    },
    async lastEnded(signal) {
      const isOver = (): boolean =>
        ready && roster.all().every(({ kind, state }) => kind === "user" || state === "ended");
      while (!isOver()) await delay(defaults.doneSettleMs, signal);
    },
    async done(signal) {
      await workDone(context, () => ready, signal);
      const failed = roster
        .all()
        .filter(
          ({ name, state, reason, service }) =>
            !service &&
            ((state === "ended" && (reason === "failed" || reason === "lost")) ||
              lastResults.get(name)?.failed === true),
        )
        .map(({ name }) => name);
      return { failed, text: lastResults.get("lead")?.text ?? "" };
    },
    down(options = {}) {
      ending ??= endAll(options);
      return ending;
    },
  };

  async function endAll(options: {
    readonly reason?: string;
    readonly timeoutMs?: number;
  }): Promise<readonly EndReport[]> {
    over.abort(new Error("the team is ending"));
    // The lead goes last: what its teammates say as they end still has a reader.
    const members = roster.all().filter(({ kind }) => kind !== "user");
    const teammates = members.filter(({ name }) => name !== "lead");
    const lead = members.filter(({ name }) => name === "lead");
    const end = (member: MemberRecord): Promise<EndReport> =>
      endMember(context, member, options).catch((error: unknown) => notEnded(member, error));
    const reports = await Promise.all(teammates.map(end));
    reports.push(...(await Promise.all(lead.map(end))));
    await context.executors.close();
    hub.emit({ type: "team-ended", reason: options.reason ?? "down" });
    await roster.flush();
    await writeRecord(paths.hostRecord, { ...hostRecord, endedAt: new Date().toISOString() });
    // Replies that wait for this very promise are written before the socket goes.
    setImmediate(() => void close());
    return reports;
  }

  /** One member that cannot be ended must not keep the others: it is reported as still running. */
  function notEnded({ name, process: of }: MemberRecord, error: unknown): EndReport {
    warn(name, error);
    const survivor = { pid: of?.pid ?? 0, command: oneLine(`not ended: ${messageOf(error)}`) };
    return { name, how: "killed", report: { found: [survivor], ended: [], survivors: [survivor] } };
  }

  const handlers: HostHandlers = {
    ping: () => ({ team: record.name, pid: process.pid, ready }),
    async ready() {
      await startedUp;
      const watchCommand = host.watchCommand();
      const failed = roster
        .all()
        .filter(({ state, reason, ref }) => state === "ended" && reason === "failed" && ref === undefined)
        .map(({ name, detail = "" }) => ({ name, detail }));
      return { failed, ...(watchCommand === undefined ? {} : { watchCommand }) };
    },
    async spawn({ spec }) {
      const member = await startMember(context, spec);
      const pane = member.ref?.pane;
      return {
        name: member.name,
        agentId: member.agentId,
        pid: member.process?.pid ?? process.pid,
        ...(pane === undefined ? {} : { pane }),
      };
    },
    async stop({ name, reason, timeoutMs }) {
      const current = roster.find(memberNamed(context, name));
      if (current === undefined || current.kind === "user")
        throw new TroupeError("not-a-teammate", `${name} is you; there is nothing to stop`, {
          kind: "usage",
        });
      return endMember(context, current, { reason, timeoutMs });
    },
    down: async (options) => ({ members: await host.down(options) }),
    subscribe({ name, backlog = 200 }, connection) {
      const wanted = name === undefined ? undefined : memberNamed(context, name);
      for (const event of backlog === 0 ? [] : hub.backlog(wanted).slice(-backlog)) connection.push(event);
      connection.onClose(hub.listen((event) => void (concerns(event, wanted) && connection.push(event))));
      return {};
    },
    "wait-done": () => host.done(over.signal),
    hello(params, connection) {
      const member = roster.find(params.name);
      if (member?.incarnation !== params.incarnation)
        throw new TroupeError(
          "stale",
          `${params.name} of this start is not a member of ${record.name} any more`,
        );
      memberOf.set(connection, { name: params.name, incarnation: params.incarnation });
      context.greeted.add(params.incarnation);
      roster.update(params.name, params.incarnation, { process: params.process });
      return {};
    },
    report(report, connection) {
      const from = memberOf.get(connection);
      if (from === undefined) throw new TroupeError("no-hello", "a report before hello");
      host.report(from.name, from.incarnation, report);
      return {} as HostResult<"report">;
    },
  };
  const memberOf = new Map<Connection, { readonly name: string; readonly incarnation: string }>();

  const server: ControlServer = await listen(paths.socket, handlers);
  const userMail = watchUserMail(context);
  const watching = watchMembers(context, watch.signal).catch((error: unknown) => {
    hub.emit({
      type: "notice",
      level: "warning",
      text: `members are not watched any more: ${messageOf(error)}`,
    });
  });

  async function close(): Promise<void> {
    watch.abort();
    await watching;
    await userMail.close();
    await server.close();
    settleClosed();
  }

  launchGuard(context.troupe, context, orphanTimeout(context), context.env);
  hub.emit({
    type: "team-started",
    team: record.name,
    backend: record.backend.type,
    reason: record.backend.reason,
    pid: process.pid,
  });
  return host;
}

function orphanTimeout({ file }: HostContext): number {
  const { orphanTimeout: seconds } = file.limits ?? {};
  return seconds === undefined ? defaults.orphanTimeoutMs : seconds * 1000;
}

function concerns(event: TeamEvent, name: string | undefined): boolean {
  const names = namesIn(event);
  return name === undefined || names.length === 0 || names.includes(name);
}
