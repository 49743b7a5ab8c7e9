import type { MessageParam } from "@anthropic-ai/sdk/resources/messages/messages.js";

/** Something that arrived while the agent was at work: mail, a notice. `text` is framed and escaped already. */
export interface IncomingMessage {
  readonly id: string;
  readonly text: string;
  /** One line for people: `mail from reviewer: start with auth`. */
  readonly label: string;
}

/**
 * Where messages come from. `take` never waits; it gives what is there, oldest first, and each message once. `answered`
 * is called with their ids after the assistant's answer to the request that carried them is on record.
 */
export interface MessagePort {
  take(): Promise<readonly IncomingMessage[]>;
  answered(ids: readonly string[]): Promise<void>;
}

/**
 * The append-only record of one conversation. `append` resolves when the record has been written to the file; records
 * come back in order from a later process. A user record carries the ids of the messages that it brings in.
 */
export interface Transcript {
  append(record: TranscriptRecord): Promise<void>;
}

export type TranscriptRecord =
  | { readonly type: "user"; readonly message: MessageParam; readonly messageIds: readonly string[] }
  | {
      readonly type: "assistant";
      readonly message: MessageParam;
      readonly model: string;
      readonly stopReason: string;
    };
