import path from "node:path";
import { peekMailbox } from "../../../mailbox/peek.js";
import type { MailProblem } from "../../../mailbox/problem.js";
import { pruneIfDue } from "../../../mailbox/prune.js";
import { openMailbox } from "../../../mailbox/store.js";
import { type Inbox, inboxOf, type ReceivedMessage, received } from "../../team/inbox.js";
import { identityFromEnv } from "../../team/keys.js";
import type { LocatedTeam } from "../../team/locate.js";
import { messageOf, TroupeError } from "../../util/errors.js";
import { oneLine } from "../../util/text.js";
import { aborted } from "../aborted.js";
import { defineCommand } from "../command.js";
import type { Io } from "../io.js";
import { mailText } from "../mail-text.js";
import { printResult } from "../output.js";
import { teamOf } from "../team-of.js";

export const inbox = defineCommand({
  name: "inbox",
  describe: "Read your mail and mark it as seen; look at another member's",
  positionals: ["NAME"],
  required: 0,
  options: {
    peek: { type: "boolean", describe: "only look: nothing is marked as seen" },
    follow: {
      type: "boolean",
      short: "f",
      describe: "keep printing mail as it comes; with --json one line each",
    },
    listen: {
      type: "string",
      arg: "SOCK",
      cleansUp: true,
      describe: "take mail into it at this Unix socket until a signal, with or without --follow",
    },
  },
  examples: [
    ["troupe inbox", "print new mail to you and mark it as seen"],
    ["troupe inbox reviewer", "look at what waits for reviewer"],
    ["troupe inbox --follow --json", "one JSON line per message, for a program"],
    ["troupe inbox --listen /run/me/t.sock", "what is sent to uds:/run/me/t.sock"],
  ],
  async run({ options, positionals }, io) {
    const team = teamOf(io, options.team);
    const box = inboxOf(team, identityFromEnv(io.env), positionals[0]);
    const view: View = { io, box, team, json: options.json };
    const take = box.own && !options.peek;
    const follow = take ? followOwn : followOther;
    if (options.listen !== undefined)
      await listen(view, path.resolve(io.cwd, options.listen), options.follow ? follow : undefined);
    else if (options.follow) await follow(view);
    else await (take ? readOwn(view) : look(view));
    return 0;
  },
});

interface View {
  readonly io: Io;
  readonly box: Inbox;
  readonly team: LocatedTeam;
  readonly json: boolean;
}

/**
 * Prints new mail, then marks it as seen: what was not written out whole comes again. As text that is done claim by claim, so that
 * it is never all in memory; a document is one.
 */
async function readOwn(view: View): Promise<void> {
  const { io, box, team, json } = view;
  const mailbox = openMailbox(box.dir);
  let read = 0;
  let mail: ReceivedMessage[] = [];
  const printThem = async (): Promise<void> => {
    await printAll(view, mail);
    mailbox.acknowledge(mail.map(({ id }) => id));
    mail = [];
  };
  try {
    for (let more = true; more; ) {
      const claim = mailbox.claim();
      for (const problem of claim.problems) void tell(io, problem);
      for (const message of claim.messages) mail.push(received(message, team, box.owner));
      read += claim.messages.length;
      more = claim.more;
      if (!json && mail.length > 0) await printThem();
    }
    if (json || read === 0) await printThem();
  } catch (error) {
    mailbox.release();
    throw error;
  }
  await tidy(view);
}

/** A mailbox that is only ever read like this has no other reader that would prune it, now and then. */
async function tidy({ box, io }: View): Promise<void> {
  try {
    await pruneIfDue(box.dir, Date.now(), io.signal);
  } catch (error) {
    if (!io.signal.aborted)
      await io.note(`troupe: seen mail was not tidied up: ${oneLine(messageOf(error))}`);
  }
}

async function look({ io, box, team, ...view }: View): Promise<void> {
  const { messages, problems } = peekMailbox(box.dir, ["new", "cur"]);
  for (const problem of problems) void tell(io, problem);
  await printAll(
    { io, box, team, ...view },
    messages.map(({ message }) => received(message, team, box.owner)),
  );
}

async function printAll({ io, box, json }: View, messages: readonly ReceivedMessage[]): Promise<void> {
  if (messages.length === 0 && !json) return io.note(`no new mail for ${box.owner}`);
  await printResult(io, json, { inbox: box.owner, messages }, messages.map(mailText).join(""));
}

/** Each message is written out, then marked as seen, before the next one is looked at. */
async function followOwn(view: View): Promise<void> {
  const { io } = view;
  const { openMailbox, readMailbox } = await import("../../../mailbox/index.js");
  const mailbox = openMailbox(view.box.dir);
  const reader = readMailbox(
    mailbox,
    {
      async onMessage(message) {
        await io.print(streamed(received(message, view.team, view.box.owner), view.json));
        mailbox.acknowledge([message.id]);
      },
      onProblem: (problem) => void tell(io, problem),
      onTrouble: (error) => void io.note(`troupe: ${error.message}`),
    },
    {},
    io.signal,
  );
  await reader.closed;
}

/** Prints what comes for another. What cannot be read is told once, and looked at again with the next bell. */
async function followOther({ io, box, team, json }: View): Promise<void> {
  const { watchMailbox } = await import("../../../mailbox/index.js");
  const known = new Set<string>();
  const told = new Set<string>();
  const failed = new AbortController();
  const tellOnce = async (line: string): Promise<void> => {
    if (!told.has(line)) await io.note(line);
    told.add(line);
  };
  const show = async (): Promise<void> => {
    const { messages, problems } = peekMailbox(box.dir, ["new", "cur"], (id) => !known.has(id));
    for (const problem of problems) await tellOnce(problemText(problem));
    for (const { message } of messages) {
      known.add(message.id);
      await io.print(streamed(received(message, team, box.owner), json));
    }
  };
  const troubled = (error: unknown): Promise<void> | void =>
    error instanceof TroupeError ? tellOnce(`troupe: ${error.message}`) : failed.abort(error);
  let last = Promise.resolve();
  const bell = (): void => {
    last = last
      .then(show)
      .catch(troubled)
      .catch((error) => failed.abort(error));
  };
  const watcher = watchMailbox(box.dir, bell, { onSweep: bell, onTrouble: troubled });
  try {
    await aborted(AbortSignal.any([io.signal, failed.signal]));
  } finally {
    await watcher.close();
  }
  if (failed.signal.aborted) throw failed.signal.reason;
}

/** Takes mail at a socket until the signal, and meanwhile does `also`. */
async function listen(
  view: View,
  socket: string,
  also: ((view: View) => Promise<void>) | undefined,
): Promise<void> {
  const { io, box, json, team } = view;
  const { listenForMail } = await import("../main.js");
  const { send: store } = openMailbox(box.dir);
  const place = { socket, locks: path.join(team.paths.home, "locks") };
  const listener = await listenForMail(place, store, {
    onTrouble: (error) => void io.note(`troupe: ${error.message}`),
  });
  try {
    await io.note(`troupe: listening at ${oneLine(socket)} for ${box.owner}`);
    if (also !== undefined) await also(view);
    else {
      if (json) await io.print(`${JSON.stringify({ inbox: box.owner, listening: socket })}\n`);
      await aborted(io.signal);
    }
  } finally {
    await listener.close();
  }
}

function streamed(message: ReceivedMessage, json: boolean): string {
  return json ? `${JSON.stringify(message)}\n` : mailText(message);
}

async function tell(io: Io, problem: MailProblem): Promise<void> {
  await io.note(problemText(problem));
}

function problemText({ type, file, reason }: MailProblem): string {
  const what = {
    bad: "was no message and was put aside",
    newer: "needs a newer troupe and stays",
    unreadable: "could not be read and stays",
  };
  return `troupe: ${oneLine(file, 80)} ${what[type]}: ${oneLine(reason)}`;
}
