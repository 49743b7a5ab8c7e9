import type { TeamEvent } from "../team/events.js";
import { userKeys } from "../team/keys.js";
import type { LocatedTeam } from "../team/locate.js";
import { createPostman } from "../team/postman.js";
import { readMember } from "../team/records.js";
import { createLeadView } from "../ui/lead-view.js";
import { createProgress } from "../ui/progress.js";
import { messageOf } from "../util/errors.js";
import type { Io } from "./io.js";

/** What shows a team's events to whoever started it: the lead's view on a terminal, else progress lines or NDJSON. */
export interface Viewer {
  show(event: TeamEvent): void;
  close(): void;
}

/** Whether a person sits at both ends. */
export function hasTerminal(io: Io): boolean {
  return io.stdin.isTTY === true && io.stdout.isTTY === true;
}

/** Opens the view that fits; `leave` is called when the person wants to go (Ctrl-C, Ctrl-D). */
export function openViewer(team: LocatedTeam, io: Io, json: boolean, leave: () => void): Viewer {
  if (json) {
    // Who reads them has gone: there is nobody left to stay for.
    const print = (event: TeamEvent): void => void io.print(`${JSON.stringify(event)}\n`).catch(leave);
    return { show: print, close: () => undefined };
  }
  if (!hasTerminal(io))
    return { ...createProgress({ output: io.stdout, env: io.env }), close: () => undefined };
  const { privateKey } = userKeys(team.paths.home);
  const postman = createPostman({ team, from: "user", privateKey });
  const view = createLeadView({
    input: io.stdin as NodeJS.ReadStream,
    output: io.stdout as NodeJS.WriteStream,
    env: io.env,
    team: team.record.name,
    lead: team.record.lead,
    onMessage: (to, text) => {
      postman.send(to, { kind: "text", text }).catch((error: unknown) => tell(messageOf(error)));
    },
    onEscape: () => interruptLead(),
    onInterrupt: leave,
    onEnd: leave,
  });
  const tell = (text: string): void =>
    view.show({ at: new Date().toISOString(), type: "notice", level: "warning", text });
  const interruptLead = (): void => {
    const lead = team.record.lead === "lead" ? readMember(team.paths, "lead") : undefined;
    if (lead === undefined) return;
    postman
      .send("lead", { kind: "interrupt", incarnation: lead.incarnation })
      .catch((error: unknown) => tell(messageOf(error)));
  };
  return view;
}
