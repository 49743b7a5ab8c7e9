import { isUtf8 } from "node:buffer";
import fs from "node:fs";
import type { Readable } from "node:stream";
import { maxTextBytes } from "../../../mailbox/message.js";
import { waitForReceipt, waitForReply } from "../../../mailbox/receipts.js";
import { type ReceivedMessage, received } from "../../team/inbox.js";
import { type Sender, senderFromEnv, splitAddress } from "../../team/keys.js";
import { type LocatedTeam, teamsNamed } from "../../team/locate.js";
import { mailboxOf, memberNamed, type Sent, sendLetter } from "../../team/send.js";
import { exitCodes, messageOf, TroupeError } from "../../util/errors.js";
import { nameKey } from "../../util/name-key.js";
import { defineCommand } from "../command.js";
import type { Io } from "../io.js";
import { mailText } from "../mail-text.js";
import { printResult } from "../output.js";
import { teamOf } from "../team-of.js";

const receipts = ["stored", "delivered", "seen", "replied"] as const;

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
    wait: { type: "string", arg: "RECEIPT", choices: receipts, describe: "wait until it got this far" },
    timeout: { type: "duration", arg: "TIME", describe: "how long to wait; default 30s" },
    "require-running": { type: "boolean", describe: "refuse if nobody is there to read it now" },
  },
  examples: [
    ['troupe send reviewer "look at src/auth first"', "to the teammate reviewer"],
    ["git diff | troupe send reviewer -", "the text from stdin"],
    ['troupe send "*" "stop for today"', "to everybody"],
    ['troupe send reviewer "done?" --wait replied --timeout 2m', "and wait for the answer"],
  ],
  async run({ options, positionals: [to = "", text] }, io) {
    const address = splitAddress(to);
    const team = teamOf(io, address.team ?? options.team);
    if (to === "*" && options.wait === "replied")
      throw usage("send: --wait replied needs one recipient, not *");
    const letter = {
      // Known before a key is made: a mistyped name leaves nothing behind.
      to: address.name === "*" ? "*" : memberNamed(team, address.name),
      text: await textOf(io, text, options.file),
      summary: options.summary,
      inReplyTo: options["reply-to"],
      id: options.id,
      requireRunning: options["require-running"],
    };
    const sender = senderFromEnv(io.env, team.paths.home);
    const sent = sendLetter(team, sender, letter);
    if (sender.unsealed !== undefined) await io.note(`troupe: sent without a seal: ${sender.unsealed}`);
    for (const { note } of sent.deliveries) if (note !== undefined) await io.note(`troupe: ${note}`);
    const wanted = options.wait ?? "stored";
    const outcome: Outcome =
      wanted === "stored"
        ? { wanted, reached: true, receipt: "stored" }
        : await waitFor(wanted, { team, sender, sent }, options.timeout ?? 30_000, io.signal);
    await printResult(io, options.json, { ...sent, ...outcome }, outcomeText(sent, outcome));
    if (sent.deliveries.some((delivery) => delivery.outcome === "failed")) return exitCodes.failed;
    return outcome.reached ? 0 : exitCodes["not-reached"];
  },
});

type Wanted = (typeof receipts)[number];

/** How far it got by the end of the wait. */
interface Outcome {
  readonly wanted: Wanted;
  readonly reached: boolean;
  /** The least that all recipients have. */
  readonly receipt: string;
  readonly reply?: ReceivedMessage;
}

async function textOf(io: Io, text: string | undefined, file: string | undefined): Promise<string> {
  if ((text === undefined) === (file === undefined))
    throw usage(text === undefined ? "send: TEXT is missing" : "send: give TEXT or --file, not both");
  const from = file ?? "stdin";
  const bytes =
    file !== undefined
      ? readLimited(file)
      : text === "-"
        ? await readStream(io.stdin)
        : Buffer.from(text ?? "");
  if (bytes.length > maxTextBytes)
    throw usage(
      `send: the text is longer than ${maxTextBytes} bytes`,
      "put it into a file and send the file's path",
    );
  if (!isUtf8(bytes)) throw usage(`send: ${from} is not UTF-8 text`, "send the path of the file instead");
  if (bytes.length === 0) throw usage("send: the text is empty");
  return bytes.toString("utf8");
}

function readLimited(file: string): Buffer {
  try {
    const { size } = fs.statSync(file);
    return size > maxTextBytes ? Buffer.alloc(maxTextBytes + 1) : fs.readFileSync(file);
  } catch (cause) {
    throw new TroupeError("unreadable-file", `send: the file ${file} cannot be read: ${messageOf(cause)}`, {
      cause,
    });
  }
}

/** Reads to the end, or until it is clear that it is too much. */
async function readStream(stream: Readable): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of stream) {
    parts.push(Buffer.from(part));
    length += parts.at(-1)?.length ?? 0;
    if (length > maxTextBytes) break;
  }
  return Buffer.concat(parts);
}

async function waitFor(
  wanted: Exclude<Wanted, "stored">,
  { team, sender, sent }: { team: LocatedTeam; sender: Sender; sent: Sent },
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Outcome> {
  const reached = sent.deliveries.filter(({ outcome }) => outcome !== "failed");
  if (wanted === "replied") {
    const dir = mailboxOf(homeOf(team, sender).paths, sender.name);
    const reply = await waitForReply(dir, sent.id, timeoutMs, signal);
    if (reply !== undefined)
      return { wanted, reached: true, receipt: "replied", reply: received(reply, team.paths) };
  }
  const awaited = wanted === "replied" ? "stored" : wanted;
  const found = await Promise.all(
    reached.map(({ name }) =>
      waitForReceipt(mailboxOf(team.paths, name), sent.id, awaited, timeoutMs, signal),
    ),
  );
  const least = found.sort((a, b) => order.indexOf(a) - order.indexOf(b))[0] ?? "stored";
  return { wanted, reached: order.indexOf(least) >= order.indexOf(wanted), receipt: least };
}

const order: readonly string[] = ["bad", "unknown", ...receipts];

/** The team in which the sender has its mailbox. */
function homeOf(team: LocatedTeam, sender: Sender): LocatedTeam {
  if (sender.team === undefined || nameKey(sender.team) === nameKey(team.record.name)) return team;
  return teamsNamed(team.paths.home, sender.team)[0] ?? team;
}

function outcomeText(sent: Sent, { wanted, receipt, reached, reply }: Outcome): string {
  if (reply !== undefined) return mailText(reply);
  const names = sent.deliveries.filter(({ outcome }) => outcome !== "failed").map(({ name }) => name);
  const whom = names.length > 5 ? `${names.length} members` : names.join(", ") || "nobody";
  const again = sent.deliveries.some(({ outcome }) => outcome === "duplicate") ? " before" : "";
  const late = reached ? "" : `, not ${wanted} in time`;
  return `${receipt}${again} for ${whom}${late} #${sent.id}\n`;
}

function usage(message: string, remedy = "troupe send --help"): TroupeError {
  return new TroupeError("usage", message, { kind: "usage", remedy });
}
