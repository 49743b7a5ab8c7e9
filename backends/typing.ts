import { messageOf } from "../src/util/errors.js";
import { delay } from "../src/util/wait.js";
import { createRecogniser, type View } from "./typed-text.js";
import type { SubmitOutcome } from "./types.js";

/** The terminal of one program, as far as it is typed into. */
export interface TypingPort {
  /** Whether `look` tells what stands on a screen; else it tells what was written since, and a repaint looks like news. */
  readonly hasScreen: boolean;
  /** What it shows now. Throws TroupeError where it cannot be typed into any more. */
  look(): Promise<View>;
  /**
   * Hands the text over, as a paste where the program asked for that. Gives undefined once it is on its way, or why this is
   * not known. Throws TroupeError only where nothing of it reaches the program.
   */
  paste(text: string): Promise<string | undefined>;
  /** Presses Enter. Gives undefined, or why it is not known to have been pressed. */
  enter(): Promise<string | undefined>;
}

/** How long to wait for what, in milliseconds. */
export interface TypingLimits {
  /** For the text to show; default 20 s, since a program that is busy shows it late. */
  readonly seenMs?: number;
  /** For the terminal to show that Enter was taken, each time; default 3 s. */
  readonly takenMs?: number;
}

/** Between the text and Enter: programs take what comes faster for a part of the paste. */
const settleMs = 150;

/** How often it is looked whether the terminal has come to rest before Enter. */
const settleLooks = 8;

/**
 * Types a text and, once it shows, Enter. What has been typed is never typed again; Enter is pressed a second time only
 * where the terminal did not change in any way after the first, and not at all where the text does not show. Rejects only
 * while nothing is typed: with what `look` and `paste` throw, or the signal's reason.
 */
export async function typeText(
  port: TypingPort,
  text: string,
  { seenMs = 20_000, takenMs = 3000 }: TypingLimits,
  signal?: AbortSignal,
): Promise<SubmitOutcome> {
  signal?.throwIfAborted();
  const before = await port.look();
  signal?.throwIfAborted();
  const doubt = await port.paste(text);
  if (doubt !== undefined) return unknown(`whether the text arrived is not known: ${doubt}`);
  let pressed = false;
  try {
    const recogniser = createRecogniser(text, before);
    const seen = await lookFor(port, recogniser.shows, seenMs, signal);
    if (seen === undefined)
      return unknown(
        `the text did not show within ${seconds(seenMs)}, so Enter was not pressed: the program shows nothing of what is typed, or is busy`,
      );
    const rest = await comeToRest(port, seen, signal);
    const taken = (view: View): boolean => {
      if (rest.quiet) return view.text !== rest.view.text || view.cursor !== rest.view.cursor;
      if (!port.hasScreen) return false;
      return (rest.cursorRests && view.cursor !== rest.view.cursor) || recogniser.differs(rest.view, view);
    };
    for (let attempt = 0; attempt < (rest.quiet ? 2 : 1); attempt++) {
      pressed = true;
      const unsure = await port.enter();
      if (unsure !== undefined) return unknown(`whether Enter arrived is not known: ${unsure}`);
      if ((await lookFor(port, taken, takenMs, signal)) !== undefined) return { outcome: "submitted" };
    }
    return unknown(
      rest.quiet
        ? "the terminal showed no answer to Enter"
        : "the terminal changes all the time, and showed no answer to Enter",
    );
  } catch (error) {
    // From here on the text is typed: whatever ends the waiting leaves it open what became of it.
    return unknown(`${pressed ? "after Enter" : "before Enter"}: ${messageOf(error)}`);
  }
}

function unknown(reason: string): SubmitOutcome {
  return { outcome: "unknown", reason };
}

/** The first view that is as wanted, or undefined at the deadline. */
async function lookFor(
  port: TypingPort,
  isWanted: (view: View) => boolean,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<View | undefined> {
  const deadline = Date.now() + timeoutMs;
  for (let pause = 20; ; pause = Math.min(pause * 1.5, 400)) {
    const view = await port.look();
    if (isWanted(view)) return view;
    if (Date.now() >= deadline) return undefined;
    await delay(pause, signal);
  }
}

/** Waits until the terminal shows the same twice, or for a while: some never rest. */
async function comeToRest(port: TypingPort, first: View, signal?: AbortSignal) {
  let before = first;
  for (let looks = 1; ; looks++) {
    await delay(settleMs, signal);
    const view = await port.look();
    const cursorRests = view.cursor === before.cursor;
    const quiet = cursorRests && view.text === before.text;
    if (quiet || looks >= settleLooks) return { view, quiet, cursorRests };
    before = view;
  }
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}
