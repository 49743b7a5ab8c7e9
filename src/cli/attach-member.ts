import type { HostConnection } from "../team/host/client.js";
import type { LocatedTeam } from "../team/locate.js";
import { openMemberExecutor } from "../team/open-executors.js";
import { readMember } from "../team/records.js";
import { memberNamed } from "../team/send.js";
import { TroupeError } from "../util/errors.js";
import { aborted } from "./aborted.js";
import { attachTerminal } from "./attach-terminal.js";
import type { Io } from "./io.js";
import { farewell } from "./lead-session.js";
import { openMemberView } from "./member-view.js";
import { hasTerminal } from "./viewer.js";

/** Goes to a member's pane, or shows it live on this terminal where it has none (or `view` asks for that). */
export async function attachMember(
  team: LocatedTeam,
  host: HostConnection,
  name: string,
  io: Io,
  options: { readonly view: boolean; readonly json: boolean },
): Promise<number> {
  const member = readMember(team.paths, memberNamed(team, name));
  if (member === undefined || member.kind === "user")
    throw new TroupeError("not-a-teammate", `${name} is you: troupe inbox`, { kind: "usage" });
  if (member.ref?.pane !== undefined && !options.view && !options.json) {
    const executor = await openMemberExecutor(team, member, io.env);
    await executor.focus?.(member.agentId);
    const command = executor.attachCommand?.();
    if (command === undefined) {
      const { pane, server } = member.ref;
      const where = server === undefined ? "iTerm2" : `the tmux server ${server.socket}`;
      await io.note(`troupe: ${member.name} is in pane ${pane} of ${where}`);
      return 0;
    }
    if (hasTerminal(io)) return attachTerminal(team, command, io);
    await io.note(`troupe: to watch: ${command.join(" ")}`);
    return 0;
  }
  const left = new AbortController();
  const view = options.json ? undefined : openMemberView(team, member, io, () => left.abort());
  host.onEvent((event) => {
    if (view === undefined) io.print(`${JSON.stringify(event)}\n`).catch(() => left.abort());
    else view.show(event);
  });
  try {
    view?.state(member, member.activity);
    await host.request("subscribe", { name: member.name }, { signal: io.signal });
    await Promise.race([host.closed, aborted(AbortSignal.any([left.signal, io.signal]))]);
  } finally {
    view?.close();
  }
  if (!options.json) await io.note(await farewell(team));
  return 0;
}
