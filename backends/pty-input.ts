import { StringDecoder } from "node:string_decoder";
import { TroupeError } from "../src/util/errors.js";
import { withoutSequences } from "./output-log.js";
import type { PtyProcess } from "./pty.js";
import { createTurns } from "./turns.js";
import { typable, type View } from "./typed-text.js";
import type { SubmitOutcome } from "./types.js";
import { type TypingLimits, type TypingPort, typeText } from "./typing.js";

/** Types into the program on one pseudo-terminal. */
export interface PtyInput {
  /** As `TeammateExecutor.submitText`; texts are typed in the order of the calls. */
  submit(text: string, signal?: AbortSignal): Promise<SubmitOutcome>;
}

/** How much of what the terminal shows is kept while something is typed, in characters. */
const keptLength = 128 * 1024;

/**
 * Made right with the terminal, before it shows anything: what the program says about pastes must not be missed. There is no
 * screen here; what is typed is recognised in what the program writes since.
 */
export function openPtyInput(terminal: PtyProcess, limits: TypingLimits = {}): PtyInput {
  const decoder = new StringDecoder("utf8");
  let bracketed = false;
  let edge = "";
  let recent = "";
  let written = 0;
  let ended = false;
  const inTurn = createTurns();

  terminal.onData((chunk) => {
    const text = decoder.write(chunk);
    // A sequence may be cut by the end of a chunk.
    for (const [, set] of (edge + text).matchAll(pasteMode)) bracketed = set === "h";
    edge = (edge + text).slice(-32);
    recent = (recent + text).slice(-keptLength);
    written += chunk.length;
  });

  terminal.onExit(() => {
    ended = true;
  });

  const view = (): View => {
    if (ended)
      throw new TroupeError("not-running", "the program on the terminal has ended", { kind: "not-reached" });
    const text = withoutSequences(recent);
    return { text, toCursor: text, cursor: String(written) };
  };
  const port: TypingPort = {
    hasScreen: false,
    look: async () => view(),
    async paste(text) {
      terminal.write(bracketed ? `\u001b[200~${text}\u001b[201~` : text);
      return undefined;
    },
    async enter() {
      terminal.write("\r");
      return undefined;
    },
  };

  return {
    submit(text, signal) {
      const typed = typable(text);
      return inTurn(() => {
        // What was shown before is no sign of this text.
        recent = "";
        return typeText(port, typed, limits, signal);
      }, signal);
    },
  };
}

/** Where a program asks for bracketed pastes, alone or among other modes, or no more. */
const pasteMode = /\u001b\[\?(?:\d+;)*2004(?:;\d+)*([hl])/g;
