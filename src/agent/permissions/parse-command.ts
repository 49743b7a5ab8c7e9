/** One command with its arguments, quotes removed: exactly what the shell would run. */
export interface SimpleCommand {
  readonly words: readonly string[];
}

/** A command line in which nothing is left to the shell but to start these commands. */
export interface ParsedCommand {
  readonly commands: readonly SimpleCommand[];
}

/** What may stand outside of quotes: no expansion, glob, comment, redirection or grouping begins with these. */
const plain = /[\p{L}\p{N}_./:=@%+,^!~-]/u;

/** First words that are grammar, or that run what follows them in another environment or as other words. */
const notCommands = new Set(
  "! if then elif else fi for while until do done case esac in select function time coproc env command builtin exec eval source .".split(
    " ",
  ),
);

/**
 * Parses a command line that consists of literal words only, joined by `|`, `||`, `&&` or `;`. Undefined for everything
 * else: redirections, substitutions, variables, globs, braces, backslashes, assignments, comments, background, several
 * lines, control characters. What it accepts, bash understands in the same way.
 */
export function parseCommand(text: string): ParsedCommand | undefined {
  const commands: SimpleCommand[] = [];
  let rest = text;
  for (;;) {
    const taken = takeCommand(rest);
    if (taken === undefined) return undefined;
    commands.push({ words: taken.words });
    rest = taken.rest;
    if (rest === "") return { commands };
    const operator = /^(\|\||&&|\||;)/.exec(rest)?.[0];
    if (operator === undefined) return undefined;
    rest = rest.slice(operator.length);
    if (operator === ";" && /^[ \t]*$/.test(rest)) return { commands };
  }
}

/** The words up to the next operator; undefined if there is none, or anything but literal words. */
function takeCommand(text: string): { words: string[]; rest: string } | undefined {
  const words: string[] = [];
  let rest = text.replace(/^[ \t]+/, "");
  while (rest !== "" && !/^[|&;]/.test(rest)) {
    const word = takeWord(rest);
    if (word === undefined) return undefined;
    words.push(word.value);
    rest = word.rest.replace(/^[ \t]+/, "");
  }
  const [first] = words;
  if (first === undefined || first === "" || notCommands.has(first) || /^\w+(\[|\+?=)/.test(first))
    return undefined;
  return { words, rest };
}

/** One word: plain characters and quoted parts without a gap. */
function takeWord(text: string): { value: string; rest: string } | undefined {
  let value = "";
  let at = 0;
  while (at < text.length) {
    const quoted = /^(?:'([^'\p{Cc}]*)'|"([^"$`\\\p{Cc}]*)")/u.exec(text.slice(at));
    if (quoted !== null) {
      value += quoted[1] ?? quoted[2] ?? "";
      at += quoted[0].length;
      continue;
    }
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
    if (/[ \t|&;]/.test(character)) break;
    if (!plain.test(character)) return undefined;
    if (character === "~" && (at === 0 || /[=:]/.test(text[at - 1] ?? ""))) return undefined;
    value += character;
    at += character.length;
  }
  return { value, rest: text.slice(at) };
}
