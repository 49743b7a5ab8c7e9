import { atExit } from "./at-exit.js";
import { type KeySource, openKeyInput } from "./key-input.js";
import { emptyLine, inputRow, pressKey } from "./line-editor.js";
import { createScreen, type ScreenOutput } from "./screen.js";
import type { Style } from "./style.js";

/** The streams of a view and what a person at them can cause. Callbacks must not throw. */
export interface PromptHandlers {
  readonly input?: KeySource;
  readonly output: ScreenOutput;
  readonly env: NodeJS.ProcessEnv;
  /** Esc. */
  readonly onEscape: () => void;
  /** Ctrl-C. */
  readonly onInterrupt: () => void;
  /** Ctrl-D on an empty line, or the end of the input. Default: nothing. */
  readonly onEnd?: () => void;
}

/** A screen whose last row is a line to type on, if there is an input. */
export interface PromptScreen {
  columns(): number;
  rows(): number;
  update(finished: readonly string[], live: readonly string[]): void;
  bell(): void;
  /** Puts the terminal back. Idempotent. Happens by itself when the process exits. */
  close(): void;
}

export function createPromptScreen(
  options: PromptHandlers & {
    readonly style: Style;
    readonly prompt: string;
    readonly onSend: (text: string) => void;
  },
): PromptScreen {
  const { input, output, style, prompt } = options;
  const screen = createScreen(output, options.env);
  let line = emptyLine;
  let live: readonly string[] = [];

  const row =
    input === undefined
      ? undefined
      : (columns: number) => inputRow(line, prompt, columns, style.symbols.newline);
  const update = (finished: readonly string[]): void => screen.update(finished, live, row);

  const keys =
    input === undefined
      ? undefined
      : openKeyInput({
          input,
          output,
          raw: screen.live,
          onKey(key) {
            const pressed = pressKey(line, key);
            line = pressed.line;
            update([]);
            const { action } = pressed;
            if (action?.type === "send") options.onSend(action.text);
            if (action?.type === "escape") options.onEscape();
            if (action?.type === "interrupt") options.onInterrupt();
            if (action?.type === "end") options.onEnd?.();
          },
          onEnd: () => options.onEnd?.(),
        });

  const close = (): void => {
    cancel();
    keys?.close();
    screen.close();
  };
  const cancel = atExit(close);

  return {
    columns: screen.columns,
    rows: screen.rows,
    update(finished, rows) {
      live = rows;
      update(finished);
    },
    bell: screen.bell,
    close,
  };
}
