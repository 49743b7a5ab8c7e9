import path from "node:path";
import { errnoOf, messageOf, TroupeError } from "../../src/util/errors.js";
import { withLock } from "../../src/util/lock.js";
import { liveness } from "../../src/util/process-identity.js";
import { outputLogOf } from "../output-log.js";
import { createTurns, type Turns } from "../turns.js";
import { typable, type View } from "../typed-text.js";
import type { SubmitOutcome, TeammateRef } from "../types.js";
import { type TypingLimits, type TypingPort, typeText } from "../typing.js";
import { openPasteMode, type PasteMode } from "./paste-mode.js";
import type { Iterm2Transport } from "./transport.js";

export interface SubmitTextOptions extends TypingLimits {
  readonly transport: Iterm2Transport;
}

/** How long another sender to the same pane is waited for, in milliseconds. */
const lockMs = 60_000;

/** How many lines are looked at: what is typed to a line editor may have scrolled away already. */
const linesSeen = 200;

/** Terminal input of one life of a teammate. */
interface Input {
  /** A lock keeps no order: the texts of this process get in line before it. */
  readonly turns: Turns;
  readonly pasteMode: PasteMode;
}

/**
 * Types text into a teammate's pane, see `TeammateExecutor.submitText`. Senders to one pane, of other processes too, wait
 * for each other. iTerm2 types what it is given as it is, so that a paste is marked here, where the program asked for that.
 */
export function createSubmitText({ transport, ...limits }: SubmitTextOptions) {
  const inputs = new Map<string, Input>();

  return async (
    agentId: string,
    ref: TeammateRef | undefined,
    text: string,
    signal?: AbortSignal,
  ): Promise<SubmitOutcome> => {
    const typed = typable(text);
    if (ref?.process === undefined || liveness(ref.process) === "gone")
      throw new TroupeError("not-running", `${agentId} does not run`, { kind: "not-reached" });
    const { pane, runDir } = ref;
    if (pane === undefined)
      throw new TroupeError("no-terminal", `${agentId} has no pane`, { kind: "unavailable" });
    const input = inputs.get(runDir) ?? {
      turns: createTurns(),
      pasteMode: openPasteMode(outputLogOf(runDir)),
    };
    inputs.set(runDir, input);
    const port = openPort(agentId, { ...ref, pane }, input.pasteMode, transport);
    const work = () => typeText(port, typed, limits, signal);
    return input.turns(() => withLock(path.join(runDir, "input.lock"), lockMs, work, signal), signal);
  };
}

function openPort(
  agentId: string,
  { pane, process }: TeammateRef & { readonly pane: string },
  pasteMode: PasteMode,
  transport: Iterm2Transport,
): TypingPort {
  async function look(): Promise<View> {
    if (process === undefined || liveness(process) === "gone") throw gone(agentId, "its program has ended");
    const shown = await transport.screen(pane, linesSeen);
    if (shown === undefined) throw gone(agentId, "its pane is gone");
    const { lines, first, cursor } = shown;
    return {
      text: lines.join("\n"),
      toCursor: lines.slice(0, Math.max(0, cursor.y - first) + 1).join("\n"),
      cursor: `${cursor.y},${cursor.x}`,
    };
  }

  /** Undefined once it is typed, or why that is not known. */
  async function type(text: string): Promise<string | undefined> {
    try {
      if (await transport.type(pane, text)) return undefined;
    } catch (error) {
      if (!doubts.includes(errnoOf(error) ?? "")) throw error;
      return messageOf(error);
    }
    throw gone(agentId, "its pane is gone");
  }

  return {
    hasScreen: true,
    look,
    paste: async (text) => type((await pasteMode.isMarked()) ? `\u001b[200~${text}\u001b[201~` : text),
    enter: () => type("\r"),
  };
}

/** The codes of failures after which a request may have been served. */
const doubts: readonly string[] = ["iterm2-dropped", "iterm2-timeout"];

function gone(agentId: string, why: string): TroupeError {
  return new TroupeError("pane-gone", `${agentId}: ${why}`, { kind: "not-reached" });
}
