import { laneOf, type Mailbox, type Message, openMailbox, readMailbox } from "../../../mailbox/index.js";
import { frameMessage } from "../../agent/message-frame.js";
import type { IncomingMessage, MessagePort } from "../../agent/ports.js";
import { oneLine } from "../../util/text.js";
import { orAbort } from "../../util/wait.js";
import type { TeamEventBody } from "../events.js";
import { trustedSender } from "../keys.js";
import type { TeamPaths } from "../paths.js";
import { readTeamRecord } from "../records.js";

/** A control message that carries authority and is meant for this incarnation. */
export interface ControlMessage {
  readonly kind: string;
  readonly from: string;
  readonly message: Message;
}

/** A member's mailbox as its runtime uses it: control mail applied at once, text queued for the conversation. */
export interface Lanes extends MessagePort {
  /**
   * Waits for the next text; gives all that is there. Rejects with the signal's reason, and once all is given with what
   * ended the reading of the mailbox; so does `take`.
   */
  next(signal: AbortSignal): Promise<readonly IncomingMessage[]>;
  /** Puts words of the runtime itself behind the mail that waits. */
  notice(text: string, label: string): void;
  /** The newest message of each sender that entered the conversation and was not replied to since. */
  readonly unanswered: ReadonlyMap<string, Asked>;
  /** A message to `to` was sent: it answers what `to` asked. Gives the id it replies to. */
  replied(to: string): string | undefined;
  /** Gives back what was not answered: the next incarnation gets it, or finds it in the transcript. */
  close(): Promise<void>;
}

export interface Asked {
  readonly id: string;
  readonly from: string;
  readonly kind: string;
}

/**
 * Opens the mailbox of `name` for the life of one incarnation. `known`: ids that are in the transcript already; they are
 * acknowledged and not handed over again. `open`: those of them that are to be answered yet. `onControl` must not throw.
 * Nothing is taken before this has returned.
 */
export function openLanes(options: {
  readonly paths: TeamPaths;
  readonly mailDir: string;
  readonly name: string;
  readonly incarnation: string;
  readonly known: ReadonlySet<string>;
  readonly open: ReadonlySet<string>;
  readonly onControl: (control: ControlMessage) => void;
  readonly emit: (event: TeamEventBody) => void;
}): Lanes {
  const { paths, emit } = options;
  const mailbox: Mailbox = openMailbox(options.mailDir);
  // Who leads never changes, and a record that is damaged later must not decide what mail may do.
  const authorities: readonly string[] = ["user", "host", readTeamRecord(paths).lead];
  const queue: IncomingMessage[] = [];
  const taken = new Map<string, Asked>();
  const unanswered = new Map<string, Asked>();
  let ring: (() => void) | undefined;
  let failure: { readonly error: unknown } | undefined;
  let serial = 0;

  const warn = (text: string): void =>
    emit({ type: "notice", level: "warning", name: options.name, text: oneLine(text) });

  const add = (incoming: IncomingMessage): void => {
    queue.push(incoming);
    ring?.();
  };

  const receive = (message: Message): void => {
    const from = trustedSender(message, paths);
    const { id, kind } = message;
    if (options.open.has(id)) unanswered.set(from, { id, from, kind });
    if (options.known.has(id)) {
      mailbox.acknowledge([id]);
      return;
    }
    if (laneOf(message) === "control") receiveControl(message, from);
    else receiveText(message, from);
  };

  const receiveText = (message: Message, from: string): void => {
    emit({
      type: "mail",
      id: message.id,
      from,
      to: options.name,
      kind: message.kind,
      summary: summaryOf(message),
      text: message.text ?? "",
    });
    taken.set(message.id, { id: message.id, from, kind: message.kind });
    add({
      id: message.id,
      text: frameMessage(frameOf(message, from)),
      label: `mail from ${oneLine(from, 60)}: ${summaryOf(message)}`,
    });
  };

  const receiveControl = (message: Message, from: string): void => {
    const { kind } = message;
    // Done before it is applied: a control message is applied at most once, even if applying it ends the process.
    mailbox.acknowledge([message.id]);
    if (message["incarnation"] !== options.incarnation)
      emit(refused(options.name, kind, from, "it was meant for an earlier start of this teammate"));
    // A sender that proves nothing is `external:…`, which no name in the list equals.
    else if (!authorities.includes(from))
      emit(refused(options.name, kind, from, "its sender has no authority"));
    else options.onControl({ kind, from, message });
  };

  const reader = readMailbox(mailbox, {
    onMessage: receive,
    onProblem: ({ file, reason }) => warn(`mail was set aside: ${file}: ${reason}`),
    onTrouble: (error) => warn(error.message),
  });

  reader.closed.catch((error: unknown) => {
    failure = { error };
    ring?.();
  });

  const take = (): IncomingMessage[] => {
    if (failure !== undefined && queue.length === 0) throw failure.error;
    const messages = queue.splice(0);
    for (const { id } of messages) {
      const asked = taken.get(id);
      if (asked !== undefined) unanswered.set(asked.from, asked);
    }
    return messages;
  };

  return {
    unanswered,
    take: async () => take(),
    answered(ids) {
      mailbox.acknowledge(ids.filter((id) => taken.delete(id)));
      return Promise.resolve();
    },
    async next(signal) {
      while (queue.length === 0 && failure === undefined) {
        const rung = new Promise<void>((resolve) => {
          ring = resolve;
        });
        await orAbort(rung, signal);
        ring = undefined;
      }
      return take();
    },
    notice(text, label) {
      const id = `notice-${options.incarnation}-${++serial}`;
      add({ id, text, label });
    },
    replied(to) {
      const asked = unanswered.get(to);
      unanswered.delete(to);
      return asked?.id;
    },
    async close() {
      reader.close();
      try {
        await reader.closed;
      } finally {
        mailbox.release([...taken.keys()]);
      }
    },
  };
}

function refused(name: string, kind: string, from: string, why: string): TeamEventBody {
  return {
    type: "notice",
    level: "warning",
    name,
    text: `${kind} from ${oneLine(from, 60)} was ignored: ${why}`,
  };
}

function summaryOf(message: Message): string {
  return oneLine(message.summary ?? message.text ?? message.kind, 80);
}

function frameOf(message: Message, from: string): Parameters<typeof frameMessage>[0] {
  return {
    id: message.id,
    from,
    kind: message.kind,
    text: message.text ?? "",
    ...(message.summary === undefined ? {} : { summary: message.summary }),
    ...(message.inReplyTo === undefined ? {} : { inReplyTo: message.inReplyTo }),
  };
}
