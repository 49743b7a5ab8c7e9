import { setImmediate as nextTurn } from "node:timers/promises";
import { TroupeError } from "../src/util/errors.js";
import { listClaims } from "./layout.js";
import type { Message } from "./message.js";
import type { MailProblem } from "./problem.js";
import { pruneEveryMs, pruneMailbox } from "./prune.js";
import type { Mailbox } from "./store.js";
import { watchMailbox } from "./watcher.js";

/** What a reader does with what it finds. */
export interface ReaderHandlers {
  /**
   * Given every message once it is claimed, oldest first, one at a time: the next one waits for the promise. Acknowledging is
   * the handler's. If it throws, the message and those behind it are put back, and the reader ends with the error.
   */
  onMessage(message: Message): void | Promise<void>;
  /** Told of each thing in the mailbox that is not mail for us; of one that stays in the way, once. Must not throw. */
  onProblem?(problem: MailProblem): void;
  /**
   * Told of trouble with the mailbox as a whole; the next sweep tries again. For each code once, and again if it was well in
   * between. Must not throw.
   */
  onTrouble?(error: TroupeError): void;
}

export interface ReaderOptions {
  /** How often to look without being told to; 10 s. */
  readonly sweepMs?: number;
}

/** A running reader. */
export interface MailboxReader {
  /** Settles when no handler runs any more and nothing is left open; rejects with what `onMessage` threw. Somebody must await it. */
  readonly closed: Promise<void>;
  /** Looks now, without waiting for a bell; what the handlers do without a pause is done when it returns. */
  drain(): void;
  /** Ends it, after the message at hand; mail that was claimed and not handed over is put back. Idempotent. */
  close(): void;
}

/**
 * Hands over the mail of one mailbox as it comes, until `close` or `signal`. It also takes over what readers that ended have
 * left, and prunes the mailbox. The first look happens after this function has returned.
 */
export function readMailbox(
  mailbox: Mailbox,
  handlers: ReaderHandlers,
  options: ReaderOptions = {},
  signal?: AbortSignal,
): MailboxReader {
  const toldProblems = new Set<string>();
  const toldTroubles = new Set<string>();
  let rung = false;
  let takeOver = false;
  let busy = false;
  let ended = false;
  let failure: { readonly error: unknown } | undefined;
  /** Whether the next sweep has to look: at what could not be read, and at claims that others hold or may have made. */
  let unsettled = true;
  /** Whether older mail may wait in `new/`: until it was listed, and all that was there could be read. */
  let behind = true;
  let pruneAt = 0;
  let pruning: Promise<void> = Promise.resolve();
  let stopPruning: (() => void) | undefined;
  let settle: (failed?: { readonly error: unknown }) => void = () => undefined;
  const closed = new Promise<void>((resolve, reject) => {
    settle = (failed) => (failed === undefined ? resolve() : reject(failed.error));
  });

  const watcher = watchMailbox(mailbox.dir, bell, { ...options, onSweep: sweep, onTrouble });
  signal?.addEventListener("abort", close, { once: true });
  queueMicrotask(() => (signal?.aborted ? close() : sweep()));
  return { closed, drain, close };

  /** Whoever claims a message takes it out of `new/`, so that the bell rings for every claim. */
  function bell(file?: string): void {
    unsettled = true;
    rung = true;
    if (!busy && !ended) void lookWhileRung(file);
  }

  function drain(): void {
    rung = true;
    if (!busy && !ended) void lookWhileRung();
  }

  function sweep(): void {
    const pruneNow = performance.now() >= pruneAt;
    if (unsettled || pruneNow) {
      unsettled = attempt(() => listClaims(mailbox.dir).length > 0) ?? true;
      takeOver = true;
      drain();
    }
    if (!pruneNow || ended) return;
    pruneAt = Number.POSITIVE_INFINITY;
    pruning = prune();
  }

  /** One at a time; never rejects. */
  async function prune(): Promise<void> {
    const ending = new AbortController();
    stopPruning = () => ending.abort();
    try {
      await pruneMailbox(mailbox.dir, Date.now(), ending.signal);
    } catch (error) {
      if (ended) return;
      if (error instanceof TroupeError) tell(error);
      else end(error);
    } finally {
      stopPruning = undefined;
    }
    pruneAt = performance.now() + pruneEveryMs;
  }

  /**
   * Single flight. A bell that rings meanwhile makes it look again, and none is lost at the end: between the last look
   * at `rung` and `busy = false` nothing else runs. It does not pause before a handler does, so that a message is
   * handed over in the turn of its bell. The file that the bell rang for comes before the listing, which takes as long again.
   * That keeps the order where names come in the order of the files (Linux) and nothing older is left from the last listing:
   * what came since has rung before. Where events were lost because too many waited, those that waited lead to a listing
   * before the next name comes. Never rejects.
   */
  async function lookWhileRung(first?: string): Promise<void> {
    busy = true;
    try {
      if (first !== undefined && !behind && namesComeInOrder) {
        const named = attempt(() => mailbox.claimNamed(first));
        for (const problem of named?.problems ?? []) tellProblem(problem);
        await handOver(named?.messages ?? []);
      }
      while (rung && !ended) {
        rung = false;
        const alsoAbandoned = takeOver;
        takeOver = false;
        const claim = attempt(() => mailbox.claim(undefined, alsoAbandoned));
        behind = claim === undefined || claim.problems.some(({ type }) => type === "unreadable");
        unsettled ||= behind;
        if (claim === undefined) break;
        for (const problem of claim.problems) tellProblem(problem);
        await handOver(claim.messages);
        if (!claim.more) continue;
        rung = true;
        takeOver ||= alsoAbandoned;
        await nextTurn();
      }
    } catch (error) {
      end(error);
    } finally {
      busy = false;
      if (ended) finish();
    }
  }

  async function handOver(messages: readonly Message[]): Promise<void> {
    let handed = 0;
    if (messages.length > 0) toldTroubles.clear();
    try {
      for (const message of messages) {
        if (ended) break;
        const handling = handlers.onMessage(message);
        if (handling !== undefined) await handling;
        handed++;
      }
    } finally {
      const rest = messages.slice(handed).map(({ id }) => id);
      if (rest.length > 0) attempt(() => mailbox.release(rest));
    }
  }

  function end(error: unknown): void {
    failure ??= { error };
    close();
  }

  function close(): void {
    if (ended) return;
    ended = true;
    stopPruning?.();
    signal?.removeEventListener("abort", close);
    if (!busy) finish();
  }

  function finish(): void {
    Promise.all([watcher.close(), pruning]).then(
      () => settle(failure),
      (error) => settle(failure ?? { error }),
    );
  }

  /** What `work` gives; undefined after an expected failure, which is told. */
  function attempt<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error;
      tell(error);
      return undefined;
    }
  }

  function tell(error: TroupeError): void {
    if (toldTroubles.has(error.code)) return;
    toldTroubles.add(error.code);
    onTrouble(error);
  }

  function onTrouble(error: TroupeError): void {
    handlers.onTrouble?.(error);
  }

  function tellProblem(problem: MailProblem): void {
    const key = `${problem.file} ${problem.reason}`;
    if (problem.type === "unreadable" && toldProblems.has(key)) return;
    if (problem.type === "unreadable") toldProblems.add(key);
    handlers.onProblem?.(problem);
  }
}

/** Elsewhere events are merged or reordered on their way. */
const namesComeInOrder = process.platform === "linux";
