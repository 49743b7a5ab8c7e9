import { constants } from "node:fs";
import { type FileHandle, open, readFile } from "node:fs/promises";
import type { MessageParam } from "@anthropic-ai/sdk/resources/messages/messages.js";
import * as z from "zod";
import { errnoOf, TroupeError } from "../util/errors.js";
import { repairConversation } from "./conversation.js";
import type { Transcript, TranscriptRecord } from "./ports.js";
import { withdrawUnanswered } from "./withdraw-unanswered.js";

/** A transcript that can be written to. Owned by its one writer, who closes it. */
export interface OpenTranscript extends Transcript {
  /**
   * Records that what no answer came after has left the conversation, by {@link withdrawUnanswered}. `messageIds` then count as
   * ones that never came in.
   */
  withdraw(withdrawal: Withdrawal): Promise<void>;
  /** Waits for the appends that were begun, then closes the file. Idempotent. */
  close(): Promise<void>;
}

export interface Withdrawal {
  readonly messageIds: readonly string[];
  /** Whether the results of tool calls stayed. */
  readonly keepsResults: boolean;
}

/** What a later process continues with. */
export interface TranscriptContent {
  /** Repaired: every call has a result, no assistant message is blank. The caller's own. */
  readonly conversation: MessageParam[];
  /** Every message that came in and was not withdrawn: these are acknowledged, not put in again. */
  readonly messageIds: readonly string[];
  /** Those of `messageIds` that no answer came after. */
  readonly unanswered: readonly string[];
  /** Lines that are no records: torn by a crash. */
  readonly skipped: number;
}

/**
 * Opens a transcript for appending; creates it (0600) if need be. One record is one line of JSON with `v` and `at`.
 * After a torn last line, an earlier process's or one of a failed append, the next record starts on a line of its own.
 */
export async function openTranscript(file: string): Promise<OpenTranscript> {
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
  const handle = await open(file, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  let torn: boolean;
  try {
    torn = await endsTorn(handle);
  } catch (error) {
    await handle.close();
    throw error;
  }
  let last: Promise<void> = Promise.resolve();
  let closed: Promise<void> | undefined;

  async function write(record: TranscriptRecord | WithdrawalRecord): Promise<void> {
    const line = `${torn ? "\n" : ""}${JSON.stringify({ v: version, at: new Date().toISOString(), ...record })}\n`;
    torn = true;
    await handle.appendFile(line);
    torn = false;
  }

  function append(record: TranscriptRecord | WithdrawalRecord): Promise<void> {
    const written = last.then(() => write(record));
    // A failed append is its caller's to hear of; it does not keep the next one from being tried.
    last = written.catch(() => {});
    return written;
  }

  return {
    append,
    withdraw: (withdrawal) => append({ type: "withdrawn", ...withdrawal }),
    close() {
      closed ??= last.then(() => handle.close());
      return closed;
    },
  };
}

/**
 * Reads a transcript whole; one that does not exist is empty. Lines that are no records are counted and passed over.
 * Throws TroupeError `transcript-version` for a record of a newer version.
 */
export async function readTranscript(file: string): Promise<TranscriptContent> {
  const messages: MessageParam[] = [];
  let messageIds: string[] = [];
  let unanswered: string[] = [];
  let skipped = 0;
  for (const line of (await textOf(file)).split("\n")) {
    if (line.trim() === "") continue;
    const record = parseRecord(line, file);
    if (record === undefined) {
      skipped++;
      continue;
    }
    if (record.type === "withdrawn") {
      const left = (id: string): boolean => !record.messageIds.includes(id);
      withdrawUnanswered(messages, record.keepsResults);
      messageIds = messageIds.filter(left);
      unanswered = unanswered.filter(left);
      continue;
    }
    messages.push(record.message);
    if (record.type === "user") {
      messageIds.push(...record.messageIds);
      unanswered.push(...record.messageIds);
    } else if (record.stopReason !== "aborted") unanswered = [];
  }
  return { conversation: repairConversation(messages), messageIds, unanswered, skipped };
}

const version = 1;

const content = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]);
const recordSchema = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.literal("user"),
    message: z.looseObject({ role: z.literal("user"), content }),
    messageIds: z.array(z.string()),
  }),
  z.looseObject({
    type: z.literal("assistant"),
    message: z.looseObject({ role: z.literal("assistant"), content }),
    model: z.string(),
    stopReason: z.string(),
  }),
  z.looseObject({
    type: z.literal("withdrawn"),
    messageIds: z.array(z.string()),
    keepsResults: z.boolean(),
  }),
]);

type WithdrawalRecord = Withdrawal & { readonly type: "withdrawn" };

function parseRecord(line: string, file: string): TranscriptRecord | WithdrawalRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const head = z.looseObject({ v: z.number() }).safeParse(value);
  if (!head.success) return undefined;
  if (head.data.v > version)
    throw new TroupeError(
      "transcript-version",
      `${file} was written by a newer troupe (version ${head.data.v})`,
      {
        remedy: "update troupe, or start without this conversation",
      },
    );
  const record = recordSchema.safeParse(value);
  // The blocks come back as they were appended; which kinds there are is the API's affair.
  return record.success ? (record.data as unknown as TranscriptRecord | WithdrawalRecord) : undefined;
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return "";
    throw error;
  }
}

async function endsTorn(handle: FileHandle): Promise<boolean> {
  const { size } = await handle.stat();
  if (size === 0) return false;
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== 10;
}
