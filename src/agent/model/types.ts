import type {
  MessageCreateParamsStreaming,
  RawMessageStreamEvent,
} from "@anthropic-ai/sdk/resources/messages/messages.js";

/** A model that answers Messages API requests as a stream of the API's own events. */
export interface ModelClient {
  /** What is shown to people and recorded: a model id, or `offline (scripted)`. */
  readonly label: string;
  /** True for the built-in offline model. */
  readonly scripted: boolean;
  /**
   * One request, without retries. Throws {@link ModelError} for every failure, also in mid-stream; the signal's
   * reason on abort.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<RawMessageStreamEvent>;
}

export type ModelRequest = Omit<MessageCreateParamsStreaming, "stream">;

/**
 * What kind of failure: `protocol` is an answer that is not a Messages API stream, `script` a mistake in the offline
 * model's script, `max-tokens` an answer that the output limit cut off for good.
 */
export type ModelErrorCode =
  | "auth"
  | "rate-limit"
  | "overloaded"
  | "too-long"
  | "bad-request"
  | "server"
  | "connection"
  | "protocol"
  | "max-tokens"
  | "script";

/** Why a request failed. `retryable` ones may be sent again after `retryAfterMs` or a back-off. */
export class ModelError extends Error {
  override readonly name = "ModelError";
  constructor(
    readonly code: ModelErrorCode,
    message: string,
    readonly options: {
      readonly status?: number;
      readonly retryable: boolean;
      readonly retryAfterMs?: number;
      readonly cause?: unknown;
    },
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
  }
}
