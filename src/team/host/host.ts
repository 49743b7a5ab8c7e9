import { messageOf } from "../../util/errors.js";
import { selfIdentity } from "../../util/process-identity.js";
import { oneLine } from "../../util/text.js";
import { version } from "../../util/version.js";
import { delay } from "../../util/wait.js";
import { defaults } from "../defaults.js";
import { membersOf } from "../member-plan.js";
import { type HostRecord, writeRecord } from "../records.js";
import { removeSockets } from "../remove-sockets.js";
import type { HostContext } from "./context.js";
import { workDone } from "./done.js";
import { endAll } from "./end-all.js";
import { launchGuard } from "./guard.js";
import { memberGone } from "./member-gone.js";
import { createMethods } from "./methods.js";
import { type Outcome, watchOutcome } from "./outcome.js";
import type { EndReport, MemberReport } from "./protocol.js";
import { listen } from "./server.js";
import { showStates } from "./show-states.js";
import { startMember } from "./start-member.js";
import { typeTerminalMail } from "./terminal-mail.js";
import { watchUserMail } from "./user-mail.js";
import { watchDelay } from "./watch-delay.js";
import { watchMembers } from "./watch-members.js";
import { watchPanes } from "./watch-panes.js";

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
  /** Resolves when the work is done. Rejects with the signal's reason. */
  done(signal: AbortSignal): Promise<Outcome>;
  /**
   * Ends all members, those that are just starting too, and then the host itself. Idempotent: later calls get the first
   * one's reports.
   */
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
  const watch = new AbortController();
  const results = watchOutcome(roster);
  const settling = new Set<Promise<unknown>>();
  let ready = false;
  let starting: Promise<unknown> = Promise.resolve();
  let ending: Promise<readonly EndReport[]> | undefined;
  const [startedUp, settleStarted] = latch();
  const [closed, settleClosed] = latch();
  const hostRecord: HostRecord = {
    v: 1,
    version,
    process: selfIdentity(),
    publicKey: identity.publicKey,
    startedAt: new Date().toISOString(),
    orphanTimeoutMs: orphanTimeout(context),
  };
  const warn = (error: unknown, name?: string): void =>
    hub.emit({
      type: "notice",
      level: "warning",
      text: oneLine(messageOf(error)),
      ...(name === undefined ? {} : { name }),
    });

  const host: Host = {
    closed,
    watchCommand: () => context.executors.members.attachCommand?.(),
    async start() {
      starting = Promise.all(
        membersOf(context.file).map((spec) =>
          startMember(context, spec).catch((error: unknown) => warn(error, spec.name)),
        ),
      );
      await starting;
      ready = true;
      settleStarted();
    },
    report(name, incarnation, report) {
      if (roster.find(name)?.incarnation !== incarnation) return;
      if (report.type === "state") roster.setState(name, incarnation, report.state, report.activity);
      else hub.relay(report.event);
      results.take(name, incarnation, report);
    },
    ended(name, error) {
      const member = roster.find(name);
      if (member === undefined || member.state === "starting") return;
      const settled: Promise<unknown> = memberGone(context, member, error)
        .catch((failure: unknown) => warn(failure, name))
        .finally(() => settling.delete(settled));
      settling.add(settled);
    },
    async lastEnded(signal) {
      const isOver = (): boolean =>
        ready && roster.all().every(({ kind, state }) => kind === "user" || state === "ended");
      while (!isOver()) await delay(defaults.doneSettleMs, signal);
    },
    async done(signal) {
      await workDone(context, () => ready, signal);
      return results.outcome();
    },
    down(options = {}) {
      ending ??= end(options);
      return ending;
    },
  };

  async function end(options: { readonly reason?: string; readonly timeoutMs?: number }) {
    context.starting.abort(new Error("the team is ending"));
    await starting;
    try {
      const reports = await endAll(context, options);
      await told(context.executors.close());
      return reports;
    } finally {
      hub.emit({ type: "team-ended", reason: options.reason ?? "down" });
      await roster.flush();
      await told(writeRecord(paths.hostRecord, { ...hostRecord, endedAt: new Date().toISOString() }));
      // Replies that wait for this very promise are written before the socket goes.
      setImmediate(() => void close());
    }
  }

  /** A step of the ending that fails is told; the steps after it are taken all the same. */
  async function told(step: Promise<unknown>): Promise<void> {
    await step.catch((error: unknown) => warn(error));
  }

  await writeRecord(paths.hostRecord, hostRecord);
  const server = await listen(paths.socket, createMethods(context, host, startedUp));
  const userMail = watchUserMail(context);
  const stopTyping = typeTerminalMail(context);
  const hideStates = showStates(context);
  const watching = Promise.all(
    looks.map(([what, look]) =>
      look(context, watch.signal).catch((error: unknown) =>
        warn(`${what} are not watched any more: ${messageOf(error)}`),
      ),
    ),
  );

  async function close(): Promise<void> {
    watch.abort();
    hideStates();
    await watching;
    await Promise.all(settling);
    // A member that was being settled meanwhile has its record written, too.
    await roster.flush();
    await told(stopTyping());
    await told(userMail.close());
    await told(server.close());
    await told(Promise.resolve().then(() => removeSockets(paths)));
    settleClosed();
  }

  launchGuard(context.troupe, context, orphanTimeout(context), context.env, (error) =>
    warn(`the team has no guard, should its host be killed: ${error.message}`),
  );
  hub.emit({
    type: "team-started",
    team: record.name,
    backend: record.backend.type,
    reason: record.backend.reason,
    pid: process.pid,
  });
  return host;
}

const looks = [
  ["members' ends", watchMembers],
  ["members' panes", watchPanes],
  ["members' delays", watchDelay],
] as const;

function latch(): [opened: Promise<void>, open: () => void] {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return [opened, open];
}

function orphanTimeout({ file }: HostContext): number {
  const { orphanTimeout: seconds } = file.limits ?? {};
  return seconds === undefined ? defaults.orphanTimeoutMs : seconds * 1000;
}
