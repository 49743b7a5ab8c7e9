import { userKeys } from "../team/keys.js";
import type { LocatedTeam } from "../team/locate.js";
import { createPostman } from "../team/postman.js";
import type { MemberRecord } from "../team/records.js";
import { createPaneView, type PaneView } from "../ui/pane-view.js";
import { messageOf } from "../util/errors.js";
import type { Io } from "./io.js";

/**
 * One member's view on this terminal. What the person types goes to the member as mail from the user, Esc interrupts its
 * turn. `leave` is called for Ctrl-C and Ctrl-D.
 */
export function openMemberView(team: LocatedTeam, member: MemberRecord, io: Io, leave: () => void): PaneView {
  const postman = createPostman({ team, from: "user", privateKey: userKeys(team.paths.home).privateKey });
  const post = (mail: Parameters<typeof postman.send>[1]): void => {
    postman
      .send(member.name, mail)
      .catch((error: unknown) =>
        view.show({ at: new Date().toISOString(), type: "notice", level: "warning", text: messageOf(error) }),
      );
  };
  const view = createPaneView({
    ...(io.stdin.isTTY === true ? { input: io.stdin as NodeJS.ReadStream } : {}),
    output: io.stdout as NodeJS.WriteStream,
    env: io.env,
    title: member.name,
    colour: member.colour,
    what: member.what,
    ...(member.model === undefined ? {} : { model: member.model, scripted: member.model === "offline" }),
    team: team.record.name,
    onLine: (text) => post({ kind: "text", text }),
    onEscape: () => post({ kind: "interrupt", incarnation: member.incarnation }),
    onInterrupt: leave,
    onEnd: leave,
  });
  return view;
}
