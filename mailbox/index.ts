export { type ErrorKind, TroupeError } from "../src/util/errors.js";
export type { Claim } from "./claim.js";
export { type ClaimName, parseClaimFile, protocolVersion, type Room } from "./layout.js";
export {
  encodeMessage,
  laneOf,
  type Message,
  type MessageKind,
  maxFileBytes,
  maxTextBytes,
  messageVersion,
  newMessageId,
  type ParsedMessage,
  parseMessage,
} from "./message.js";
export { type Counts, type MailRoom, mailRooms, type Peek, type PeekedMessage, peekMailbox } from "./peek.js";
export type { Stored } from "./place.js";
export type { MailProblem } from "./problem.js";
export { pruneMailbox, retention } from "./prune.js";
export { type MailboxReader, type ReaderHandlers, type ReaderOptions, readMailbox } from "./reader.js";
export { type AwaitedReceipt, type Receipt, receiptOf, waitForReceipt, waitForReply } from "./receipts.js";
export { type Outcome, openRouter, type Router } from "./router.js";
export { createKeyPair, type KeyPair, readKeyPair, sealMessage, verifySeal } from "./seal.js";
export { storeMessageSync } from "./send.js";
export { createMailbox, type Mailbox, type OpenMailboxOptions, openMailbox } from "./store.js";
export { type MailboxWatcher, type WatchOptions, watchMailbox } from "./watcher.js";
