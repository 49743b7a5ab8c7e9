import { laneOf, type Mailbox, type Message, openMailbox, readMailbox } from "../../../mailbox/index.js";
import { errnoOf, messageOf, TroupeError } from "../../util/errors.js";
import { oneLine } from "../../util/text.js";
import { delay } from "../../util/wait.js";
import type { MemberRecord } from "../records.js";
import { summaryOf } from "../runtime/mail-frame.js";
import { mailboxOf } from "../send.js";
import { senderOnceKnown } from "../trusted-sender.js";
import type { HostContext } from "./context.js";
import { endMember } from "./end-member.js";
import { typedMail } from "./typed-mail.js";

/** Takes the mail of one member that reads its terminal, and types it there. */
export interface Typist {
  /** Ends it; what is not typed yet stays in the mailbox. Resolves when nothing of it runs. Never rejects. */
  close(): Promise<void>;
}

/** How long after a failure before which nothing was typed it is tried again. */
const againMs = 5000;

/** What no second attempt could mend. */
const hopeless: readonly string[] = ["text-too-long", "nothing-to-type", "no-terminal"];

/**
 * Types the mail of `member`, one message after the other as they came; each is taken only when its turn has come. What was
 * submitted is acknowledged. Of what perhaps was, a warning tells, once: it stays delivered, and is not typed again; the next
 * one waits until the terminal shows something else.
 */
export function openTypist(context: HostContext, member: MemberRecord): Typist {
  const { hub } = context;
  const { name, agentId, incarnation } = member;
  const executor = context.executorFor(member);
  const ending = new AbortController();
  const { signal } = ending;
  const applied = new Set<Promise<unknown>>();
  let started = false;
  let told = false;
  const waits = ({ message }: Error): void => {
    if (!told) warn(message);
    told = true;
  };
  const warn = (text: string): void =>
    hub.emit({ type: "notice", level: "warning", name, text: oneLine(text, 400) });

  const mailbox = openMailbox(mailboxOf(context.paths, name));
  const oneByOne: Mailbox = { ...mailbox, claim: (_limit, takeOver) => mailbox.claim(1, takeOver) };

  async function receive(message: Message): Promise<void> {
    let from: string;
    try {
      from = await senderOnceKnown(message, context, name, waits, {}, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      return mailbox.release([message.id]);
    }
    if (laneOf(message) === "control") return applyControl(message, from);
    const { id, kind, text = "" } = message;
    hub.emit({ type: "mail", id, from, to: name, kind, summary: summaryOf(message), text });
    if (!started) await comeToRest();
    started = true;
    await typeMail(id, from, typedMail(message, from));
  }

  /** A program that is just starting takes Enter for something else. */
  async function comeToRest(): Promise<void> {
    const deadline = performance.now() + startMs;
    let before: string | undefined;
    while (performance.now() < deadline && !signal.aborted) {
      const shown = await look();
      if (shown !== undefined && shown === before) return;
      before = shown;
      await delay(restMs, signal).catch(() => undefined);
    }
  }

  /** What is typed into a terminal that shows no answer would only pile up there. Each look at one in tmux is a process. */
  async function somethingElse(): Promise<void> {
    let stuck = await look();
    for (let pauseMs = restMs; !signal.aborted; pauseMs = Math.min(pauseMs * 1.5, stuckMs)) {
      await delay(pauseMs, signal).catch(() => undefined);
      const shown = await look();
      if (stuck !== undefined && shown !== undefined && shown !== stuck) return;
      stuck ??= shown;
    }
  }

  /** What the terminal shows; undefined where this cannot be told for the moment. */
  async function look(): Promise<string | undefined> {
    try {
      return await executor.capture?.(agentId, 100);
    } catch (error) {
      if (isPassing(error)) return undefined;
      throw error;
    }
  }

  /** Puts `detail` into the member's state, or takes it out. */
  function tell(detail?: string): void {
    const now = context.roster.find(name);
    if (now?.incarnation !== incarnation) return;
    const { state, reason, since, activity } = now;
    const told = {
      state,
      since,
      ...(reason === undefined ? {} : { reason }),
      ...(detail === undefined ? {} : { detail }),
    };
    context.roster.setState(name, incarnation, told, activity);
  }

  async function typeMail(id: string, from: string, text: string): Promise<void> {
    const what = `mail #${id} from ${oneLine(from, 60)}`;
    const typed = await submit(what, text);
    if (typed === "later") mailbox.release([id]);
    else if (typed === "submitted") acknowledge(id, what);
    else if (typed !== "never") {
      const waits = `mail waits until the terminal of ${name} shows something else: troupe attach ${name}`;
      warn(
        `${what} was typed and perhaps not taken: ${typed.doubt}; it is not typed again, and later ${waits}`,
      );
      tell(waits);
      await somethingElse();
      tell();
    }
  }

  /** Tries until it is typed once; `later` where this member stops before that, `never` where nothing can help. */
  async function submit(
    what: string,
    text: string,
  ): Promise<"submitted" | "later" | "never" | { readonly doubt: string }> {
    const told = new Set<string>();
    while (!signal.aborted) {
      try {
        const typed = await executor.submitText?.(agentId, text, signal);
        if (typed?.outcome === "unknown") return { doubt: typed.reason };
        return typed?.outcome ?? "never";
      } catch (error) {
        if (signal.aborted) break;
        if (!isPassing(error)) throw error;
        const { message } = error;
        const code = errnoOf(error) ?? "";
        const remedy = error instanceof TroupeError ? error.remedy : undefined;
        if (hopeless.includes(code)) {
          warn(`${what} cannot be typed: ${message}`);
          return "never";
        }
        if (!told.has(code)) warn(`${what} waits: ${message}${remedy === undefined ? "" : ` (${remedy})`}`);
        told.add(code);
        await delay(againMs, signal).catch(() => undefined);
      }
    }
    return "later";
  }

  /** One that cannot be marked as seen was typed all the same. */
  function acknowledge(id: string, what: string): void {
    try {
      mailbox.acknowledge([id]);
    } catch (error) {
      if (!isPassing(error)) throw error;
      warn(`${what} was typed, and stays delivered: ${error.message}`);
    }
  }

  function applyControl(message: Message, from: string): void {
    mailbox.acknowledge([message.id]);
    const objection = objectionTo(message, from);
    if (objection !== undefined) {
      warn(`${message.kind} from ${oneLine(from, 60)} was ignored: ${objection}`);
      return;
    }
    const end = endMember(context, member, { reason: message.text }).catch((error: unknown) =>
      warn(messageOf(error)),
    );
    applied.add(end);
    void end.finally(() => applied.delete(end));
  }

  function objectionTo(message: Message, from: string): string | undefined {
    if (message["incarnation"] !== incarnation) return "it was meant for an earlier start of this teammate";
    // A sender that proves nothing is `external:…`, which no name in the list equals.
    if (!["user", "host", context.record.lead].includes(from)) return "its sender has no authority";
    return message.kind === "shutdown-request" ? undefined : "it means nothing to a program";
  }

  const reader = readMailbox(
    oneByOne,
    {
      onMessage: receive,
      onProblem: ({ file, reason }) => warn(`mail was set aside: ${file}: ${reason}`),
      onTrouble: (error) => warn(error.message),
    },
    {},
    signal,
  );
  const closed = reader.closed.catch((error: unknown) =>
    warn(`mail is not typed any more: ${messageOf(error)}`),
  );

  return {
    async close() {
      ending.abort(new Error(`${name} ends`));
      await closed;
      await Promise.all(applied);
    },
  };
}

/** An expected failure, or one of the system: ended by none of them, the typing of a member goes on. */
function isPassing(error: unknown): error is Error {
  return error instanceof TroupeError || (error instanceof Error && errnoOf(error) !== undefined);
}

/** A program has started when it has shown the same for so long; at most so long is waited for that. */
const restMs = 400;
const startMs = 10_000;

/** The longest pause between two looks at a terminal that shows no answer. */
const stuckMs = 8000;
