import { TroupeError } from "../../util/errors.js";
import { namesIn } from "../event-hub.js";
import type { TeamEvent } from "../events.js";
import { keepProcesses } from "../kept.js";
import { checkKeeps } from "../kill-keeping.js";
import { checkName } from "../names.js";
import type { MemberRecord } from "../records.js";
import { memberNamed } from "../send.js";
import { teammateSchema } from "../team-file/schema.js";
import type { HostContext } from "./context.js";
import { endMember } from "./end-member.js";
import type { Host } from "./host.js";
import { notesDuring } from "./notes-during.js";
import type { HostResult } from "./protocol.js";
import { checkReport } from "./report-schema.js";
import type { Connection, HostHandlers } from "./server.js";
import { startMember } from "./start-member.js";

/** What the host answers on its socket. `started` resolves when the team file's members have started or failed to. */
export function createMethods(context: HostContext, host: Host, started: Promise<void>): HostHandlers {
  const { roster, hub, record } = context;
  const keepSome = async (members: readonly MemberRecord[], pids: readonly number[]): Promise<void> => {
    if (pids.length > 0) for (const member of members) checkKeeps(context.executorFor(member));
    await keepProcesses(context.paths, members, pids);
  };
  const memberOf = new Map<Connection, { readonly name: string; readonly incarnation: string }>();

  return {
    async ready() {
      await started;
      const watchCommand = host.watchCommand();
      const failed = roster
        .all()
        .filter(({ state, reason, ref }) => state === "ended" && reason === "failed" && ref === undefined)
        .map(({ name, detail = "" }) => ({ name, detail }));
      return { failed, ...(watchCommand === undefined ? {} : { watchCommand }) };
    },
    async spawn({ spec }) {
      const checked = teammateSchema.safeParse(spec);
      if (!checked.success)
        throw new TroupeError(
          "bad-request",
          `no teammate is described: ${checked.error.issues[0]?.message}`,
          {
            kind: "usage",
            cause: checked.error,
          },
        );
      if (context.starting.signal.aborted)
        throw new TroupeError("team-ending", `the team ${record.name} is ending; nobody joins it any more`);
      checkName(checked.data.name);
      const member = await startMember(context, checked.data);
      const pane = member.ref?.pane;
      return {
        name: member.name,
        agentId: member.agentId,
        pid: member.process?.pid ?? process.pid,
        ...(pane === undefined ? {} : { pane }),
      };
    },
    async stop({ name, reason, timeoutMs, keep = [] }) {
      const current = roster.find(memberNamed(context, name));
      if (current === undefined || current.kind === "user")
        throw new TroupeError("not-a-teammate", `${name} is you; there is nothing to stop`, {
          kind: "usage",
        });
      await keepSome([current], keep);
      const { result, notes } = await notesDuring(hub, () =>
        endMember(context, current, { reason, timeoutMs }),
      );
      return { ...result, ...(notes.length === 0 ? {} : { notes }) };
    },
    async down({ keep = [], ...options }) {
      await keepSome(
        roster.all().filter(({ kind }) => kind !== "user"),
        keep,
      );
      const { result: members, notes } = await notesDuring(hub, () => host.down(options));
      return { members, ...(notes.length === 0 ? {} : { notes }) };
    },
    subscribe({ name, backlog = 200 }, connection) {
      const wanted = name === undefined ? undefined : memberNamed(context, name);
      for (const event of backlog === 0 ? [] : hub.backlog(wanted).slice(-backlog)) connection.push(event);
      connection.onClose(
        hub.listen((event) => {
          if (concerns(event, wanted)) connection.push(event);
        }),
      );
      return {};
    },
    hello({ name, incarnation, process: of }, connection) {
      if (roster.find(name)?.incarnation !== incarnation)
        throw new TroupeError("stale", `${name} of this start is not a member of ${record.name} any more`);
      memberOf.set(connection, { name, incarnation });
      connection.onClose(() => memberOf.delete(connection));
      context.greeted.add(incarnation);
      roster.update(name, incarnation, { process: of });
      return {};
    },
    report(report, connection) {
      const from = memberOf.get(connection);
      if (from === undefined) throw new TroupeError("no-hello", "a report before hello");
      host.report(from.name, from.incarnation, checkReport(report, from.name));
      return {} as HostResult<"report">;
    },
  };
}

function concerns(event: TeamEvent, name: string | undefined): boolean {
  const names = namesIn(event);
  return name === undefined || names.length === 0 || names.includes(name);
}
