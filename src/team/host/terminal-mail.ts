import { messageOf } from "../../util/errors.js";
import { oneLine } from "../../util/text.js";
import type { HostContext } from "./context.js";
import { openTypist, type Typist } from "./typist.js";

/**
 * Types mail to every member with `input: terminal`, from its start until it stops; the result ends that, and resolves when
 * nothing is typed any more.
 */
export function typeTerminalMail(context: HostContext): () => Promise<void> {
  const { hub, roster } = context;
  const typists = new Map<string, Typist>();
  const closing = new Set<Promise<void>>();

  const close = (incarnation: string, typist: Typist): void => {
    typists.delete(incarnation);
    const closed = typist.close().finally(() => closing.delete(closed));
    closing.add(closed);
  };

  const stopListening = hub.listen((event) => {
    if (event.type !== "member-state") return;
    const member = roster.find(event.name);
    if (member?.input !== "terminal") return;
    const { incarnation, name } = member;
    const typist = typists.get(incarnation);
    if (typist !== undefined && (event.state === "stopping" || event.state === "ended"))
      close(incarnation, typist);
    if (typist !== undefined || event.state !== "working") return;
    try {
      typists.set(incarnation, openTypist(context, member));
    } catch (error) {
      const text = oneLine(`its mail is not typed: ${messageOf(error)}`);
      hub.emit({ type: "notice", level: "warning", name, text });
    }
  });

  return async () => {
    stopListening();
    for (const [incarnation, typist] of typists) close(incarnation, typist);
    await Promise.all(closing);
  };
}
