import { withDeadline } from "../util/wait.js";
import type { AgentEvent, Usage } from "./events.js";
import { type Assembled, createAssembler } from "./model/assemble.js";
import type { Backoff } from "./model/backoff.js";
import { type ModelClient, ModelError, type ModelRequest } from "./model/types.js";

export interface RequestLimits {
  /** Requests for one answer, the first included. */
  readonly attempts: number;
  /** From the first request until no further one is sent, waits included. */
  readonly totalMs: number;
}

export const defaultLimits: RequestLimits = { attempts: 8, totalMs: 600_000 };

export interface TurnRequest {
  readonly model: ModelClient;
  readonly request: ModelRequest;
  readonly backoff: Backoff;
  readonly limits: RequestLimits;
}

export type TurnOutcome =
  | {
      readonly type: "answer";
      readonly answer: Assembled;
      readonly firstTokenMs: number;
      readonly durationMs: number;
    }
  /** What was there when the signal came; undefined before the first event. */
  | { readonly type: "aborted"; readonly answer: Assembled | undefined }
  | { readonly type: "failed"; readonly error: ModelError };

/**
 * One answer of the model. Refusals to serve, lost connections and streams that are cut off are waited out and the same
 * request is sent again, so that an answer comes whole or not at all; text that was shown before a cut is followed by
 * a notice. `onUsage` is told the counts of every request that began to be answered, the cut ones too.
 */
export async function* requestTurn(
  { model, request, backoff, limits }: TurnRequest,
  onUsage: (usage: Usage) => void,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, TurnOutcome> {
  const deadline = Date.now() + limits.totalMs;
  for (let attempt = 1; ; attempt++) {
    const assembler = createAssembler();
    let started = performance.now();
    let firstToken: number | undefined;
    try {
      await ready(backoff, deadline - Date.now(), signal);
      started = performance.now();
      for await (const event of model.stream(request, signal)) {
        const deltas = assembler.accept(event);
        if (event.type === "content_block_start" || deltas.length > 0) firstToken ??= performance.now();
        yield* deltas;
      }
      signal.throwIfAborted();
      if (!assembler.complete) throw cutOff();
      const ended = performance.now();
      const answer = assembler.assembled();
      onUsage(answer.usage);
      return {
        type: "answer",
        answer,
        firstTokenMs: (firstToken ?? ended) - started,
        durationMs: ended - started,
      };
    } catch (error) {
      const begun = assembler.assembled();
      onUsage(begun.usage);
      const spoke = firstToken !== undefined;
      if (assembler.speaking) yield { type: "text-end" };
      if (signal.aborted) return { type: "aborted", answer: spoke ? begun : undefined };
      const failure = asModelError(error);
      const { retryable, retryAfterMs, status = 0 } = failure.options;
      if (!retryable) return { type: "failed", error: failure };
      const waitMs = backoff.refused(attempt, retryAfterMs);
      if (attempt >= limits.attempts || Date.now() + waitMs >= deadline)
        return { type: "failed", error: givenUp(failure, attempt, waitMs) };
      if (spoke) yield { type: "notice", level: "warning", text: "the answer was cut off; it starts again" };
      yield { type: "retry", status, waitMs, attempt };
    }
  }
}

async function ready(backoff: Backoff, leftMs: number, signal: AbortSignal): Promise<void> {
  try {
    await withDeadline("the wait of other requests", leftMs, (both) => backoff.ready(both), signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new ModelError("rate-limit", "no request could be sent: the server asked all agents to wait", {
      retryable: false,
      cause: error,
    });
  }
}

function cutOff(): ModelError {
  return new ModelError("connection", "the answer's stream ended before the answer did", { retryable: true });
}

function givenUp(failure: ModelError, attempts: number, waitMs: number): ModelError {
  const { status, cause } = failure.options;
  const tried = attempts === 1 ? "1 attempt" : `${attempts} attempts`;
  return new ModelError(
    failure.code,
    `${failure.message} (given up after ${tried}; the next would be in ${Math.ceil(waitMs / 1000)} s)`,
    { retryable: false, cause, ...(status === undefined ? {} : { status }) },
  );
}

/** A model client throws nothing else; anything that slips through is a failure of its own, not to be sent again. */
function asModelError(error: unknown): ModelError {
  if (error instanceof ModelError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ModelError("protocol", `the model client failed: ${message}`, {
    retryable: false,
    cause: error,
  });
}
