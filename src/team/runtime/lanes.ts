import { laneOf, type Mailbox, type Message, openMailbox, readMailbox } from "../../../mailbox/index.js";
import { type Frame, frameMessage, parseFrames } from "../../agent/message-frame.js";
import type { IncomingMessage, MessagePort } from "../../agent/ports.js";
import { messageOf } from "../../util/errors.js";
import { oneLine } from "../../util/text.js";
import { orAbort } from "../../util/wait.js";
import type { TeamEventBody } from "../events.js";
import type { TeamPaths } from "../paths.js";
import { readTeamRecord } from "../records.js";
import { senderOnceKnown } from "../trusted-sender.js";
import { frameOf, mailBounds, shortened, summaryOf } from "./mail-frame.js";

/** A control message that carries authority and is meant for this incarnation. */
export interface ControlMessage {
  readonly kind: string;
  readonly from: string;
  readonly message: Message;
  /** What it says, framed for the conversation; undefined where it says nothing. */
  readonly framed: string | undefined;
}

/** A member's mailbox as its runtime uses it: control mail applied at once, text queued for the conversation. */
export interface Lanes extends MessagePort {
  /**
   * Waits for the next text; gives all that is there, or as much as one request should carry. Rejects with the signal's
   * reason, and once all is given with what ended the reading of the mailbox; so does `take`.
   */
  next(signal: AbortSignal): Promise<readonly IncomingMessage[]>;
  /** Puts words of the runtime itself behind the mail that waits. */
  notice(text: string, label: string): void;
  /**
   * Those of `ids` that were given and not answered, once more, each text cut to its beginning with the file that holds all of it;
   * empty where that makes nothing shorter.
   */
  again(ids: readonly string[]): readonly IncomingMessage[];
  /** What entered the conversation and was not replied to since, in that order. */
  readonly unanswered: readonly Asked[];
  /** A reply to the message with this id was sent. One that is not owed, or undefined, changes nothing. */
  replied(id: string | undefined): void;
  /** Gives back what was not answered: the next incarnation gets it, or finds it in the transcript. */
  close(): Promise<void>;
}

export interface Asked {
  readonly id: string;
  readonly from: string;
  readonly kind: string;
}

export interface LanesOptions {
  readonly paths: TeamPaths;
  readonly mailDir: string;
  readonly name: string;
  readonly incarnation: string;
  /** Where what is too long for the conversation is kept; the agent may read there. */
  readonly outDir: string;
  /** Ids that are in the transcript already: they are not handed over again. */
  readonly known: ReadonlySet<string>;
  /** Those of them that no answer came after; the others are acknowledged. */
  readonly open: ReadonlySet<string>;
  /** Must not throw. */
  readonly onControl: (control: ControlMessage) => void;
  /** Told in one line when the mailbox cannot be watched or read as it should; undefined once mail comes again. Must not throw. */
  readonly onTrouble: (trouble: string | undefined) => void;
  readonly emit: (event: TeamEventBody) => void;
  /** How often to look without being told to; default the reader's. */
  readonly sweepMs?: number;
  /** How long to wait where the system does not let tell for the moment who mail is from; default 1 s. */
  readonly againMs?: number;
  /** Closes them in the same way; nothing is given or taken from then on. */
  readonly revoked?: AbortSignal | undefined;
}

/** Opens the mailbox of a member for the life of one incarnation. Nothing is taken before this has returned. */
export function openLanes(options: LanesOptions): Lanes {
  const { paths, name, emit } = options;
  const mailbox: Mailbox = openMailbox(options.mailDir);
  // Who leads never changes, and a record that is damaged later must not decide what mail may do.
  const team = { paths, record: readTeamRecord(paths) };
  const authorities: readonly string[] = ["user", "host", team.record.lead];
  const known = new Set(options.known);
  const open = new Set(options.open);
  const queue: IncomingMessage[] = [];
  const given = new Map<string, IncomingMessage>();
  const taken = new Map<string, Asked>();
  const unanswered: Asked[] = [];
  const ending = new AbortController();
  let troubled = false;
  let ring: (() => void) | undefined;
  let failure: { readonly error: unknown } | undefined;
  let serial = 0;

  const warn = (text: string): void => emit({ type: "notice", level: "warning", name, text: oneLine(text) });

  const trouble = (text: string | undefined): void => {
    if (text !== undefined) warn(text);
    if (text !== undefined || troubled) options.onTrouble(text);
    troubled = text !== undefined;
  };

  const add = (incoming: IncomingMessage): void => {
    queue.push(incoming);
    ring?.();
  };

  const receive = (message: Message): void | Promise<void> => {
    const from = senderOnceKnown(message, team, name, cannotTell, options, ending.signal);
    if (typeof from === "string") return receiveFrom(from, message);
    return from.then(
      (known) => receiveFrom(known, message),
      (error: unknown) => {
        if (!ending.signal.aborted) throw error;
        mailbox.release([message.id]);
      },
    );
  };

  const cannotTell = ({ message }: Error): void => {
    if (!troubled) trouble(oneLine(message));
  };

  const receiveFrom = (from: string, message: Message): void => {
    trouble(undefined);
    const { id, kind } = message;
    if (open.has(id)) {
      taken.set(id, { id, from, kind });
      unanswered.push({ id, from, kind });
    } else if (known.has(id)) mailbox.acknowledge([id]);
    else if (laneOf(message) === "control") receiveControl(message, from);
    else receiveText(message, from);
    // What is stored once more after it was seen and forgotten is a repeat, too.
    known.add(id);
  };

  const receiveText = (message: Message, from: string): void => {
    const { id, kind } = message;
    const summary = summaryOf(message);
    const frame = fitting(frameOf(message, from));
    emit({
      type: "mail",
      id,
      from,
      to: name,
      kind,
      summary,
      text: message.text === undefined ? "" : frame.text,
    });
    taken.set(id, { id, from, kind });
    add({ id, text: frameMessage(frame), label: `mail from ${oneLine(from, 60)}: ${summary}` });
  };

  const receiveControl = (message: Message, from: string): void => {
    const { kind } = message;
    // Done before it is applied: a control message is applied at most once, even if applying it ends the process.
    mailbox.acknowledge([message.id]);
    const ignore = (why: string): void => warn(`${kind} from ${oneLine(from, 60)} was ignored: ${why}`);
    if (message["incarnation"] !== options.incarnation)
      ignore("it was meant for an earlier start of this teammate");
    // A sender that proves nothing is `external:…`, which no name in the list equals.
    else if (!authorities.includes(from)) ignore("its sender has no authority");
    else {
      const framed = message.text === undefined ? undefined : frameMessage(fitting(frameOf(message, from)));
      options.onControl({ kind, from, message, framed });
    }
  };

  /** A text that cannot be kept elsewhere is handed over whole. */
  const fitting = (frame: Frame, most: number = mailBounds.text): Frame => {
    try {
      return shortened(frame, most, options.outDir);
    } catch (error) {
      warn(`mail from ${frame.from} is not cut, since its text cannot be kept: ${messageOf(error)}`);
      return frame;
    }
  };

  const reader = readMailbox(
    mailbox,
    {
      onMessage: receive,
      onProblem: ({ file, reason }) => warn(`mail was set aside: ${file}: ${reason}`),
      onTrouble: (error) => trouble(oneLine(error.message)),
    },
    options.sweepMs === undefined ? {} : { sweepMs: options.sweepMs },
  );

  reader.closed.catch((error: unknown) => {
    failure = { error };
    ring?.();
  });

  const close = async (): Promise<void> => {
    options.revoked?.removeEventListener("abort", revoke);
    reader.close();
    ending.abort();
    try {
      await reader.closed;
    } finally {
      mailbox.release([...taken.keys()]);
      taken.clear();
    }
  };

  const revoke = (): void => void close().catch((error: unknown) => warn(messageOf(error)));
  options.revoked?.addEventListener("abort", revoke, { once: true });
  if (options.revoked?.aborted) revoke();

  const take = (): IncomingMessage[] => {
    if (failure !== undefined && queue.length === 0) throw failure.error;
    const messages = queue.splice(0, countOfOneRequest(queue));
    for (const message of messages) {
      given.set(message.id, message);
      const asked = taken.get(message.id);
      if (asked !== undefined) unanswered.push(asked);
    }
    return messages;
  };

  return {
    unanswered,
    take: async () => take(),
    answered(ids) {
      for (const id of ids) {
        open.delete(id);
        given.delete(id);
      }
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
      add({ id: `notice-${options.incarnation}-${++serial}`, text, label });
    },
    again(ids) {
      const before = ids.flatMap((id) => given.get(id) ?? []);
      const shorter = before.map((message) => {
        const [frame] = parseFrames(message.text);
        return frame === undefined
          ? message
          : { ...message, text: frameMessage(fitting(frame, mailBounds.again)) };
      });
      return shorter.some(({ text }, index) => text !== before[index]?.text) ? shorter : [];
    },
    replied(id) {
      const at = unanswered.findIndex((asked) => asked.id === id);
      if (at !== -1) unanswered.splice(at, 1);
    },
    close,
  };
}

/** How many of the messages that wait one request carries: at least one, so that none waits for ever. */
function countOfOneRequest(queue: readonly IncomingMessage[]): number {
  let bytes = 0;
  const beyond = queue.findIndex(({ text }, index) => {
    bytes += Buffer.byteLength(text);
    return index > 0 && bytes > mailBounds.request;
  });
  return beyond === -1 ? queue.length : beyond;
}
