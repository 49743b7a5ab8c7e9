import { colours } from "../team/colours.js";

/** How text is decorated on one stream. Decided once by {@link createStyle} and passed down. */
export interface Style {
  readonly colour: boolean;
  readonly symbols: Symbols;
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  warn(text: string): string;
  bad(text: string): string;
  /** `text` in a teammate's colour; an unknown colour leaves it plain. */
  paint(colour: string, text: string): string;
}

export type Symbols = Readonly<Record<keyof typeof unicodeSymbols, string>>;

/**
 * The style for `output`. FORCE_COLOR decides (`0` and `false` mean none), then NO_COLOR, then whether it is a terminal
 * that knows more than dumb text. Symbols are ASCII unless the locale is UTF-8.
 */
export function createStyle(output: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): Style {
  const colour = wantsColour(output, env);
  const wrap = (open: string, close: string) => (text: string) =>
    colour && text !== "" ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  const numbers: Readonly<Record<string, number>> = colours;
  return {
    colour,
    symbols: isUtf8(env) ? unicodeSymbols : asciiSymbols,
    bold: wrap("1", "22"),
    dim: wrap("2", "22"),
    good: wrap(`38;5;${colours.green}`, "39"),
    warn: wrap(`38;5;${colours.yellow}`, "39"),
    bad: wrap(`38;5;${colours.red}`, "39"),
    paint(name, text) {
      const number = Object.hasOwn(numbers, name) ? numbers[name] : undefined;
      return number === undefined ? text : wrap(`38;5;${number}`, "39")(text);
    },
  };
}

const unicodeSymbols = {
  done: "●",
  running: "○",
  failed: "✗",
  in: "←",
  out: "→",
  dot: "·",
  warning: "!",
  more: "…",
  newline: "↵",
  bar: "│",
} as const;

const asciiSymbols = {
  done: "*",
  running: "o",
  failed: "x",
  in: "<-",
  out: "->",
  dot: "-",
  warning: "!",
  more: "...",
  newline: "|",
  bar: "|",
} as const;

function wantsColour(output: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  if (env["NO_COLOR"]) return false;
  return output.isTTY === true && env["TERM"] !== "dumb";
}

function isUtf8(env: NodeJS.ProcessEnv): boolean {
  return /utf-?8/i.test(env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "");
}
