/**
 * Command patterns are words: `git log:*` and `git log *` mean these words and whatever follows, `git log` exactly
 * these, `:*` anything; a star inside a word stands for any characters of that word.
 */
interface CommandPattern {
  readonly words: readonly RegExp[];
  readonly open: boolean;
}

/** Whether a simple command is one that the pattern means; for rules that allow or ask. */
export function isCommand(pattern: string, words: readonly string[]): boolean {
  const { words: wanted, open } = compile(pattern);
  if (open ? words.length < wanted.length : words.length !== wanted.length) return false;
  return wanted.every((word, index) => word.test(words[index] ?? ""));
}

/**
 * Whether the pattern's words stand anywhere in a command line, one after another; for rules that deny. Works on any
 * text: quotes and backslashes are seen through, a program's directory too. Meant to find too much rather than too little.
 */
export function mentionsCommand(pattern: string, text: string): boolean {
  const wanted = compile(pattern).words;
  if (wanted.length === 0) return true;
  return [text, text.replace(/\\\n/g, "").replace(/['"\\]/g, "")].some((reading) => {
    const found = reading.split(/[\s;&|<>()`${}'"]+/).filter((word) => word !== "");
    return found.some((_, start) =>
      wanted.every((word, index) => {
        const candidate = found[start + index] ?? "";
        return (
          word.test(candidate) || (index === 0 && word.test(candidate.slice(candidate.lastIndexOf("/") + 1)))
        );
      }),
    );
  });
}

function compile(pattern: string): CommandPattern {
  const open = /(^|\s)\*$|:\*$/.test(pattern);
  const text = open ? pattern.replace(/:?\*$/, "") : pattern;
  const words = text.split(/\s+/).filter((word) => word !== "");
  return { words: words.map(wordPattern), open };
}

function wordPattern(word: string): RegExp {
  const parts = word.split(/\*+/).map((part) => part.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "s");
}
