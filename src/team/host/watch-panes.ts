import type { PaneTags } from "../../../backends/tmux/pane-tags.js";
import type { TeammateRef } from "../../../backends/types.js";
import { liveness } from "../../util/process-identity.js";
import { delay } from "../../util/wait.js";
import { defaults } from "../defaults.js";
import type { MemberRecord } from "../records.js";
import type { HostContext } from "./context.js";

/** A member that runs in a pane. */
type InPane = MemberRecord & { readonly ref: InPaneRef };
type InPaneRef = TeammateRef & Required<Pick<TeammateRef, "server" | "pane" | "tag">>;

/**
 * Looks at the panes of running members until the signal is aborted (then it resolves): one call of tmux for each server and
 * look, none where no member runs in a pane. Who has lost its pane and goes on without one is told of once, and its record
 * says so: life and death are a matter of the process, so nobody would see anything of it. A server that does not answer
 * says nothing.
 */
export async function watchPanes(
  context: HostContext,
  signal: AbortSignal,
  everyMs: number = defaults.paneLookMs,
): Promise<void> {
  const { paneTags } = context.executors;
  if (paneTags === undefined) return;
  const servers = new Map<string, PaneTags>();
  const tagsOn = async ({ socket, process }: InPaneRef["server"]) => {
    if (liveness(process) === "gone") return new Map<string, string>();
    const known = servers.get(socket) ?? (await paneTags(socket));
    servers.set(socket, known);
    return known.look(process.pid);
  };
  for (;;) {
    await delay(everyMs, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    if (signal.aborted) return;
    for (const members of byServer(context).values()) {
      const tags = await tagsOn(members[0].ref.server);
      if (tags !== undefined) for (const member of members) tellOf(context, member, tags);
    }
  }
}

function tellOf({ roster, hub }: HostContext, member: InPane, tags: ReadonlyMap<string, string>): void {
  const { name, incarnation, ref } = member;
  const tag = tags.get(ref.pane);
  // One that is not labelled yet has none.
  const isThere = tag === ref.tag || tag === "";
  if (isThere || !isInPane(roster.find(name), incarnation)) return;
  roster.update(name, incarnation, { paneClosed: true });
  const ended = liveness(ref.server.process) === "gone";
  const how = ended ? `went with its tmux server (pid ${ref.server.process.pid})` : "was closed";
  hub.emit({
    type: "notice",
    level: "warning",
    name,
    text: `${name} works on without its pane: ${ref.pane} ${how}; see it: troupe logs ${name} --follow; end it: troupe stop ${name}`,
  });
}

/** The running members by the server that holds their panes. */
function byServer({ roster }: HostContext): ReadonlyMap<string, [InPane, ...InPane[]]> {
  const servers = new Map<string, [InPane, ...InPane[]]>();
  for (const member of roster.all()) {
    if (!isInPane(member, member.incarnation)) continue;
    const { socket, process } = member.ref.server;
    const key = `${process.pid} ${process.startTime} ${socket}`;
    const others = servers.get(key);
    if (others === undefined) servers.set(key, [member]);
    else others.push(member);
  }
  return servers;
}

/** Whether a member of this start runs, in a pane that is there as far as is known. */
function isInPane(member: MemberRecord | undefined, incarnation: string): member is InPane {
  if (member?.incarnation !== incarnation || member.paneClosed) return false;
  if (["starting", "stopping", "ended"].includes(member.state)) return false;
  const { server, pane, tag } = member.ref ?? {};
  const hasPane = server !== undefined && pane !== undefined && tag !== undefined;
  return hasPane && member.process !== undefined && liveness(member.process) === "alive";
}
