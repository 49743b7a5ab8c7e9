import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { delay } from "../src/util/wait.js";
import { syncDirectory, syncDirectorySync, writeDraft } from "./draft.js";
import { createGate, type Gate } from "./gate.js";
import { encodeMessage, type Message } from "./message.js";
import { removeLeftover } from "./message-file.js";
import { type PlaceOptions, placeMessage, type Stored } from "./place.js";
import { maxTries, pauseMs } from "./rename-lock.js";
import { busy, maybeStored, sendError } from "./send.js";

/** Puts messages into one mailbox. Messages become visible in the order of the calls, awaited or not. */
export interface Sender {
  /** Stores `message` durably. */
  send(message: Message): Promise<Stored>;
  /** As `send`, with the content in a file that exists already, or will: it is linked, or copied where links fail. */
  sendShared(id: string, bytes: Buffer, file: Promise<string>): Promise<Stored>;
}

/** How many files and how many directories may be on their way to the disk at once; each holds a descriptor open. */
export interface DiskGates {
  readonly drafts: Gate;
  readonly directories: Gate;
  /**
   * Up to which time for a draft, in milliseconds, the disk counts as quick. The flush that makes a lone message durable then
   * blocks: to wake two threads for it takes as long as the flush itself.
   */
  readonly quickMs: number;
}

/** The drafts of a whole batch; of directories as many as keep the disk busy: the threads that Node waits with are four. */
export function createDiskGates(): DiskGates {
  return { drafts: createGate(maxBatch), directories: createGate(8), quickMs: 2 };
}

/** How many messages are stored together. */
const maxBatch = 32;

/** A message on its way. `shared`: the file that has its content already, or will. */
interface Outgoing {
  readonly id: string;
  readonly bytes: Buffer;
  readonly shared: Promise<string> | undefined;
  readonly stored: (stored: Stored) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * A queue of messages into the mailbox `dir`, which its caller has found there. Errors of `send`: TroupeError `bad-message`, `no-mailbox`, `id-taken`,
 * `not-stored`, or `maybe-stored` (kind `not-reached`), after which sending it again with the same id settles the matter.
 * Senders that are used together share `gates`.
 *
 * What is sent while others are on their way is stored together after them: all drafts, all links, one flush of the
 * directory. A file system with a journal holds up whoever creates or removes a file while it writes that; work that
 * overlaps would wait for itself.
 */
export function createSender(
  dir: string,
  options: PlaceOptions = {},
  gates: DiskGates = createDiskGates(),
): Sender {
  const waiting: Outgoing[] = [];
  let running = false;

  return {
    send: async (message) => store(message.id, encodeMessage(message), undefined),
    sendShared(id, bytes, file) {
      // A failure is looked at in its turn.
      file.catch(() => undefined);
      return store(id, bytes, file);
    },
  };

  function store(id: string, bytes: Buffer, shared: Promise<string> | undefined): Promise<Stored> {
    return new Promise((stored, failed) => {
      waiting.push({ id, bytes, shared, stored, failed });
      if (!running) void storeWaiting();
    });
  }

  /** Never rejects. */
  async function storeWaiting(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      // Who has just been answered may have more to send.
      await nextTurn();
      await storeBatch(waiting.splice(0, maxBatch));
    }
    running = false;
  }

  /** Answers for every message; never rejects. */
  async function storeBatch(batch: readonly Outgoing[]): Promise<void> {
    const start = performance.now();
    const drafts = await Promise.allSettled(
      batch.map(({ id, bytes, shared }) => shared ?? writeCopy(id, bytes)),
    );
    const isQuick = performance.now() - start < gates.quickMs;
    const placed: (readonly [Outgoing, Stored])[] = [];
    for (const [index, outgoing] of batch.entries())
      try {
        placed.push([outgoing, await place(outgoing, drafts[index])]);
      } catch (error) {
        outgoing.failed(sendError(dir, outgoing.id, error));
      }
    const flushed = placed.length === 0 ? undefined : await settled(() => flush(batch, isQuick));
    for (const [index, draft] of drafts.entries())
      if (draft.status === "fulfilled" && batch[index]?.shared === undefined) removeLeftover(draft.value);
    for (const [outgoing, stored] of placed)
      if (flushed?.status === "rejected") outgoing.failed(maybeStored(dir, outgoing.id, flushed.reason));
      else outgoing.stored(stored);
  }

  /** Makes durable what is in `new/`. */
  async function flush(batch: readonly Outgoing[], isQuick: boolean): Promise<void> {
    const directory = path.join(dir, "new");
    const [only] = batch;
    const isAlone = batch.length === 1 && waiting.length === 0 && gates.drafts.isIdle();
    // A broadcast is many lone messages.
    if (isQuick && isAlone && only?.shared === undefined) syncDirectorySync(directory);
    else await gates.directories(() => syncDirectory(directory));
  }

  function writeCopy(id: string, bytes: Buffer): Promise<string> {
    return gates.drafts(() => writeDraft(path.join(dir, "tmp"), id, bytes));
  }

  async function place(
    { id, bytes }: Outgoing,
    draft: PromiseSettledResult<string> | undefined,
  ): Promise<Stored> {
    if (draft?.status !== "fulfilled") throw draft?.reason;
    return placeFile(id, draft.value, bytes);
  }

  async function placeFile(id: string, file: string, bytes: Buffer): Promise<Stored> {
    for (let tries = maxTries; ; tries--) {
      const placed = placeMessage(dir, id, file, bytes, options);
      if (placed === "refused") return placeCopy(id, bytes);
      if (placed !== "busy") return placed;
      if (tries === 0) throw busy(dir, id);
      await delay(pauseMs);
    }
  }

  async function placeCopy(id: string, bytes: Buffer): Promise<Stored> {
    const copy = await writeCopy(id, bytes);
    try {
      return await placeFile(id, copy, bytes);
    } finally {
      removeLeftover(copy);
    }
  }
}

async function settled(work: () => Promise<void>): Promise<PromiseSettledResult<void>> {
  const [result] = await Promise.allSettled([work()]);
  return result;
}
