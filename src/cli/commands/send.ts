import { checkMailbox } from "../../../mailbox/layout.js";
import { type Asker, type Awaited, awaitable, awaitReceipts, isReached } from "../../team/await-receipts.js";
import { identityFromEnv, type Sender, senderFromEnv, splitAddress } from "../../team/keys.js";
import type { LocatedTeam } from "../../team/locate.js";
import { troupeHome } from "../../team/paths.js";
import {
  addressees,
  type Letter,
  mailboxOf,
  messageOfLetter,
  type Sent,
  senderName,
  sendLetterAtOnce,
} from "../../team/send.js";
import { socketOf } from "../../team/uds-address.js";
import { sendToSocket } from "../../team/uds-send.js";
import { exitCodes } from "../../util/errors.js";
import { nameKey } from "../../util/name-key.js";
import { usageError } from "../arguments.js";
import { defineCommand } from "../command.js";
import type { Io } from "../io.js";
import { mailText } from "../mail-text.js";
import { printResult } from "../output.js";
import { teamOf } from "../team-of.js";
import { textArgument } from "../text-argument.js";

export const send = defineCommand({
  name: "send",
  describe: "Send a message to a member by name",
  positionals: ["TO", "TEXT"],
  required: 1,
  options: {
    file: { type: "string", arg: "PATH", describe: "take the text from a file" },
    summary: { type: "string", arg: "TEXT", describe: "what it is about, in five to ten words" },
    "reply-to": { type: "string", arg: "ID", describe: "the message that this one answers" },
    id: {
      type: "string",
      arg: "ID",
      describe: "the message's id: sending it again with the same id does no harm",
    },
    wait: { type: "string", arg: "RECEIPT", choices: awaitable, describe: "wait until it got this far" },
    timeout: { type: "duration", arg: "TIME", describe: "how long to wait; default 30s" },
    "require-running": { type: "boolean", describe: "refuse if nobody is there to read it now" },
  },
  examples: [
    ['troupe send reviewer "look at src/auth first"', "to the teammate reviewer"],
    ["git diff | troupe send reviewer -", "the text from stdin"],
    ['troupe send reviewer "done?" --wait replied --timeout 2m', "and wait for the answer"],
    ['troupe send "*" "stop for today"', "to everybody"],
    ['troupe send "#review" "a new one"', "to a channel of the team file"],
    ['troupe send reviewer@other "hello"', "to a member of another team"],
    ['troupe send uds:/run/me/app.sock "hello"', "to a program that listens there"],
  ],
  async run({ options, positionals: [to = "", text] }, io) {
    const timeoutMs = options.timeout ?? 30_000;
    const wanted = options.wait ?? "stored";
    const socket = socketOf(to);
    if (socket !== undefined && wanted !== "stored")
      throw usageError(send, `send: --wait ${wanted} cannot be known of a socket, only --wait stored`);
    if (socket !== undefined && options.team !== undefined)
      throw usageError(send, "send: a socket belongs to no team: leave --team out");
    const address = splitAddress(to);
    if (socket === undefined && address.team !== undefined && options.team !== undefined)
      throw usageError(send, `send: ${to} names its team: leave --team out`);
    const team = socket === undefined ? teamOf(io, address.team ?? options.team) : undefined;
    const home = team?.paths.home ?? troupeHome(io.env);
    // Known before a key is made: a mistyped name leaves nothing behind.
    const whom = team && addressees(team, senderName(identityFromEnv(io.env), team.record), address.name);
    const letter: Letter = {
      to: socket === undefined ? address.name : to,
      text: await textArgument(io, "send", text, options.file),
      summary: options.summary,
      inReplyTo: options["reply-to"],
      id: options.id,
      requireRunning: options["require-running"],
    };
    const asker = team !== undefined && wanted === "replied" ? askerOf(io, team) : undefined;
    const sender = senderFromEnv(io.env, home);
    if (sender.unsealed !== undefined) await io.note(`troupe: sent without a seal: ${sender.unsealed}`);
    const sent =
      team === undefined
        ? await sendThrough(socket ?? "", sender, letter, timeoutMs, io.signal)
        : await sendLetterAtOnce(team, sender, letter, whom);
    const notes = sent.deliveries.flatMap(({ note }) => (note === undefined ? [] : `troupe: ${note}`));
    if (notes.length > 0) await io.note(notes.join("\n"));
    const awaited =
      team === undefined
        ? takenBySocket(sent)
        : await awaitReceipts({ sent, team, asker }, wanted, timeoutMs, io.signal);
    for (const note of awaited.notes ?? []) await io.note(`troupe: ${note}`);
    await printResult(io, options.json, { ...sent, ...awaited }, outcomeText(sent, awaited));
    if (sent.deliveries.some((delivery) => delivery.outcome === "failed")) return exitCodes.failed;
    return awaited.reached ? 0 : exitCodes["not-reached"];
  },
});

async function sendThrough(
  socket: string,
  sender: Sender,
  letter: Letter,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Sent> {
  const from = sender.team === undefined ? sender.name : `${sender.name}@${sender.team}`;
  const message = messageOfLetter(sender, from, letter.to, letter);
  const { duplicate } = await sendToSocket(socket, message, timeoutMs, signal);
  const { id, to } = message;
  return { id, from, to, deliveries: [{ name: to, outcome: duplicate ? "duplicate" : "stored" }] };
}

/**
 * Answers come to the sender's own mailbox: the user has one in each team, a teammate in its own. Throws TroupeError where
 * there is none, so that nothing is sent whose answer could not come.
 */
function askerOf(io: Io, team: LocatedTeam): Asker {
  const self = identityFromEnv(io.env);
  const isHome = self.team === undefined || nameKey(self.team) === nameKey(team.record.name);
  const home = isHome ? team : teamOf(io, undefined);
  checkMailbox(mailboxOf(home.paths, self.name), `of ${JSON.stringify(self.name)}`);
  return { name: self.name, team: home };
}

function takenBySocket({ deliveries }: Sent): Awaited {
  const receipt = "stored";
  const known = deliveries.map((delivery) => ({ ...delivery, receipt }));
  return { wanted: "stored", reached: true, receipt, deliveries: known };
}

/** The answers, where all have come; else a line for each receipt, which names those who are late. */
function outcomeText(sent: Sent, { wanted, reached, deliveries, replies = [] }: Awaited): string {
  const answers = replies.map(mailText).join("");
  if (reached && answers !== "") return answers;
  const groups = new Map<string, string[]>();
  for (const { name, outcome, receipt } of deliveries) {
    if (receipt === undefined) continue;
    const far = outcome === "duplicate" ? `${receipt} before` : receipt;
    const late = isReached(receipt, wanted) || wanted === "stored" ? "" : `, not ${wanted} in time`;
    const key = JSON.stringify([far, late]);
    groups.set(key, [...(groups.get(key) ?? []), name]);
  }
  const lines = [...groups].map(([key, names]) => {
    const [far, late] = JSON.parse(key);
    const whom = names.length > 5 && late === "" ? `${names.length} members` : names.join(", ");
    return `${far} for ${whom}${late} #${sent.id}\n`;
  });
  return answers + (lines.join("") || `stored for nobody #${sent.id}\n`);
}
