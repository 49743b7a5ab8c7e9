import type { MemberState } from "../team/member-state.js";
import type { Style } from "./style.js";
import { stateWords, tokenWords } from "./words.js";

/** What a member does now, in one live row: `working · Grep "TODO" · context 12.3k, 1.2k written · Esc interrupts`. */
export function stateRow(options: {
  readonly state: MemberState;
  /** One safe line; empty where there is none. */
  readonly activity?: string;
  readonly tokens: { readonly context: number; readonly output: number };
  readonly canInterrupt: boolean;
  readonly style: Style;
}): string {
  const { state, activity = "", tokens, style } = options;
  const isWorking = state.state === "working";
  const parts = [
    stateWords(state),
    ...(isWorking && activity !== "" ? [activity] : []),
    ...(tokens.context > 0
      ? [`context ${tokenWords(tokens.context)}, ${tokenWords(tokens.output)} written`]
      : []),
    ...(isWorking && options.canInterrupt ? ["Esc interrupts"] : []),
  ];
  return style.dim(parts.join(` ${style.symbols.dot} `));
}
