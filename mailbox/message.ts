import { isUtf8 } from "node:buffer";
import { messageOf, TroupeError } from "../src/util/errors.js";
import { oneLine } from "../src/util/text.js";
import { idPattern, messageFile } from "./layout.js";

export { newMessageId } from "./message-id.js";

/** Largest message file in bytes. */
export const maxFileBytes = 8 * 1024 * 1024;

/** Longest `text` in bytes of UTF-8; what is larger goes by path. */
export const maxTextBytes = 1024 * 1024;

/** Longest `from`, `to` and `kind` in bytes of UTF-8. */
export const maxNameBytes = 512;

/** How deep a message's values may be nested, so that no reader of it can be made to overflow its stack. */
export const maxDepth = 64;

/** The version of the message format that this package reads and writes. */
export const messageVersion = 1;

/** The kinds that the protocol knows; any other kind is delivered too, as text with its kind. */
export type MessageKind =
  | "text"
  | "task-assignment"
  | "task-update"
  | "task-notification"
  | "idle"
  | "permission-request"
  | "permission-response"
  | "plan-request"
  | "plan-response"
  | "shutdown-request"
  | "shutdown-response"
  | "interrupt"
  | "command-exit";

/**
 * One message. `id` is also its file's name; `sentAt` is an RFC 3339 time; `seal` signs all other fields. What else a
 * message holds depends on its kind and is not checked here: such fields are kept as they are.
 */
export interface Message {
  readonly v: 1;
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly sentAt: string;
  readonly kind: MessageKind | (string & {});
  readonly text?: string;
  readonly summary?: string;
  readonly inReplyTo?: string;
  readonly seal?: string;
  readonly [field: string]: unknown;
}

/** What bytes turned out to be: a message, one of a version that only a newer reader knows, or not a message. */
export type ParsedMessage =
  | { readonly type: "message"; readonly message: Message }
  | { readonly type: "newer"; readonly v: number }
  | { readonly type: "bad"; readonly reason: string };

/**
 * Which way a message takes at its recipient: `control` is applied on arrival and never enters a conversation, `text`
 * is handed over to whoever reads.
 */
export function laneOf(message: Message): "control" | "text" {
  return controlKinds.has(message.kind) ? "control" : "text";
}

/** Reads the content of the file `fileName`, or without a name what came by another way. Never throws. */
export function parseMessage(bytes: Uint8Array, fileName?: string): ParsedMessage {
  if (bytes.length > maxFileBytes) return bad(`larger than ${maxFileBytes} bytes`);
  if (!isUtf8(bytes)) return bad("not UTF-8");
  if (isDeeper(bytes, maxDepth)) return bad(tooDeep);
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8"));
  } catch (error) {
    return bad(`not JSON: ${oneLine(String(error))}`);
  }
  if (!isRecord(value)) return bad("not a JSON object");
  const { v, id } = value;
  if (typeof v === "number" && Number.isInteger(v) && v > messageVersion) return { type: "newer", v };
  const fault = faultOf(value);
  if (fault !== undefined) return bad(fault.reason);
  if (fileName !== undefined && fileName !== messageFile(String(id)))
    return bad("the id is not the file's name");
  return { type: "message", message: value as unknown as Message };
}

/**
 * The bytes of a message's file. Throws TroupeError `bad-message` for what a reader would refuse, so that nothing is
 * sent that cannot arrive.
 */
export function encodeMessage(message: Message): Buffer {
  const fault = faultOf(message);
  if (fault !== undefined) throw refusal(fault.reason, fault.remedy);
  let bytes: Buffer;
  try {
    bytes = Buffer.from(`${JSON.stringify(message)}\n`);
  } catch (error) {
    throw refusal(oneLine(messageOf(error)), "send what JSON can hold", error);
  }
  if (bytes.length > maxFileBytes) throw refusal(`larger than ${maxFileBytes} bytes`, sendPath);
  if (isDeeper(bytes, maxDepth)) throw refusal(tooDeep, sendPath);
  return bytes;
}

function refusal(reason: string, remedy: string, cause?: unknown): TroupeError {
  return new TroupeError("bad-message", `the message cannot be sent: ${reason}`, {
    kind: "usage",
    remedy,
    cause,
  });
}

const sendPath = "write large content to a file and send its path";
const asDescribed = "docs/mailbox-protocol.md says what a message holds";
const asId = "an id is 8 to 64 of a-z, 0-9 and -, and begins with no -";

const controlKinds: ReadonlySet<string> = new Set<MessageKind>([
  "permission-response",
  "plan-response",
  "shutdown-request",
  "interrupt",
]);

const tooDeep = `nested deeper than ${maxDepth}`;

/** As message.schema.json has it, which a test holds against this file. */
const time =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

interface Fault {
  readonly reason: string;
  readonly remedy: string;
}

/** What is wrong with a message, in words, or undefined. */
function faultOf(value: Readonly<Record<string, unknown>>): Fault | undefined {
  const fault = (reason: string, remedy = asDescribed): Fault => ({ reason, remedy });
  const { v, id, from, to, sentAt, kind, text, summary, inReplyTo, seal } = value;
  if (v !== messageVersion) return fault(`"v" is not ${messageVersion}`);
  if (typeof id !== "string" || !idPattern.test(id))
    return fault(`"id" does not match ${idPattern.source}`, `${asId}; leave it out for a new one`);
  for (const [field, name] of Object.entries({ from, to, kind }))
    if (!isName(name))
      return fault(`"${field}" is not a text of 1 to ${maxNameBytes} bytes without control characters`);
  if (typeof sentAt !== "string" || !time.test(sentAt) || Number.isNaN(Date.parse(sentAt)))
    return fault('"sentAt" is not an RFC 3339 time');
  if (text === undefined ? kind === "text" : typeof text !== "string") return fault('"text" is not a text');
  if (typeof text === "string" && Buffer.byteLength(text) > maxTextBytes)
    return fault(`"text" is longer than ${maxTextBytes} bytes`, sendPath);
  if (summary !== undefined && typeof summary !== "string") return fault('"summary" is not a text');
  if (inReplyTo !== undefined && (typeof inReplyTo !== "string" || !idPattern.test(inReplyTo)))
    return fault(
      '"inReplyTo" is not a message id',
      `${asId}; give that of the message that this one answers`,
    );
  if (seal !== undefined && typeof seal !== "string") return fault('"seal" is not a text');
  return undefined;
}

function isName(value: unknown): boolean {
  return (
    typeof value === "string" &&
    value !== "" &&
    Buffer.byteLength(value) <= maxNameBytes &&
    !/[\u0000-\u001f\u007f-\u009f]/.test(value)
  );
}

/** Whether JSON text nests deeper than `limit`; found before parsing, which takes seconds for megabytes of brackets. */
function isDeeper(json: Uint8Array, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === quote) inString = !inString;
    else if (inString) at += byte === backslash ? 1 : 0;
    else if (byte === openBrace || byte === openBracket) depth++;
    else if (byte === closeBrace || byte === closeBracket) depth--;
    if (depth > limit) return true;
  }
  return false;
}

const [quote, backslash, openBrace, openBracket, closeBrace, closeBracket] = Buffer.from('"\\{[}]');

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function bad(reason: string): ParsedMessage {
  return { type: "bad", reason };
}
