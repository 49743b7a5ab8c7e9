import type { ReadStream } from "node:tty";
import { createKeyParser, type Key } from "./key-parser.js";

/** Where keys come from: a terminal, or any other stream. */
export type KeySource = NodeJS.ReadableStream & Partial<Pick<ReadStream, "isTTY" | "setRawMode">>;

export interface KeyInput {
  /** Stops reading and puts the terminal back as it was. Idempotent. */
  close(): void;
}

/**
 * Reads keys from `input`. With `raw`, a terminal is put into raw mode with bracketed paste (switched by writing to
 * `output`) until `close`; the owner sees to it that `close` is called however the process ends. `onEnd` is called once,
 * when the input ends or fails. Any other stream gives the same keys; its last line counts as entered.
 */
export function openKeyInput(options: {
  readonly input: KeySource;
  readonly output: NodeJS.WritableStream;
  readonly raw: boolean;
  readonly onKey: (key: Key) => void;
  readonly onEnd: () => void;
}): KeyInput {
  const { input, output } = options;
  const parser = createKeyParser();
  const isTerminal = options.raw && input.isTTY === true;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const give = (keys: readonly Key[]): void => {
    for (const key of keys) if (!closed) options.onKey(key);
  };
  const settle = (): void => give(parser.flush());
  const onData = (bytes: Buffer | string): void => {
    clearTimeout(timer);
    give(parser.feed(Buffer.from(bytes)));
    const pending = parser.pending();
    if (pending !== undefined && !closed) timer = setTimeout(settle, patience[pending]);
  };
  const onEnd = (): void => {
    clearTimeout(timer);
    settle();
    if (!isTerminal) give([{ type: "key", name: "enter" }]);
    if (closed) return;
    close();
    options.onEnd();
  };

  const setRaw = (raw: boolean): void => {
    if (!isTerminal) return;
    // The terminal may be gone, or refuse a process in the background: then there is nothing to switch.
    try {
      input.setRawMode?.(raw);
    } catch {
      return;
    }
    output.write(raw ? pasteOn : pasteOff);
  };
  const onContinue = (): void => {
    // The shell has changed the modes while the process was stopped; setting raw mode twice would be skipped.
    setRaw(false);
    setRaw(true);
  };

  const close = (): void => {
    if (closed) return;
    closed = true;
    clearTimeout(timer);
    input.off("data", onData).off("end", onEnd).off("error", onEnd);
    process.off("SIGCONT", onContinue);
    setRaw(false);
    input.pause();
  };

  input.on("data", onData).on("end", onEnd).on("error", onEnd);
  if (isTerminal) process.on("SIGCONT", onContinue);
  setRaw(true);
  return { close };
}

/** How long the rest of a sequence or of a paste may take, in milliseconds. */
const patience = { escape: 60, paste: 2_000 } as const;

const pasteOn = "\u001b[?2004h";
const pasteOff = "\u001b[?2004l";
