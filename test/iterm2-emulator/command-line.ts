/**
 * What iTerm2 makes of a profile's `Command`: `\(...)` is replaced by the value of that variable, then the text is split at
 * blanks, with quotes and backslash escapes.
 */
export function wordsOf(command: string, variable: (name: string) => string | undefined): string[] {
  return split(interpolate(command, variable));
}

/** Text with every `\(name)` replaced by the variable's value; what has none becomes empty. */
export function interpolate(text: string, variable: (name: string) => string | undefined): string {
  return text.replace(/\\\(([^)]*)\)/g, (_, name: string) => variable(name.trim()) ?? "");
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", a: "\u0007", e: "\u001b" };

function split(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === "\\" && quote !== "'") {
      const next = text.charAt(++at);
      word = (word ?? "") + (escapes[next] ?? next);
    } else if (quote !== "") {
      if (character === quote) quote = "";
      else word += character;
    } else if (character === "'" || character === '"') {
      quote = character;
      word ??= "";
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + character;
  }
  if (word !== undefined) words.push(word);
  return words;
}
