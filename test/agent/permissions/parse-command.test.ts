import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseCommand } from "../../../src/agent/permissions/parse-command.js";

const words = (text: string) => parseCommand(text)?.commands.map((command) => command.words);

describe("parseCommand", () => {
  it("reads plain and quoted words", () => {
    expect(words("git log --oneline -5")).toEqual([["git", "log", "--oneline", "-5"]]);
    expect(words(" rg  'a|b; $(x)' \"two words\" a'b'\"c\" '' ")).toEqual([
      ["rg", "a|b; $(x)", "two words", "abc", ""],
    ]);
    expect(words("git show HEAD~1:src/ä.ts")).toEqual([["git", "show", "HEAD~1:src/ä.ts"]]);
  });

  it("splits at the operators that only join commands", () => {
    expect(words("a 1|b && c||d ; e;")).toEqual([["a", "1"], ["b"], ["c"], ["d"], ["e"]]);
  });

  it.each([
    "",
    "   ",
    "a > f",
    "a 2>&1",
    "a < f",
    "a &",
    "a & b",
    "a |& b",
    "a ;; b",
    "; a",
    "a &&",
    "a | | b",
    "a\nb",
    "a\rb",
    "echo $HOME",
    'echo "$HOME"',
    "echo `x`",
    'echo "`x`"',
    "echo $(x)",
    "echo \\x",
    'echo "\\x"',
    "cat *.ts",
    "cat a?",
    "cat [ab]",
    "cat {a,b}",
    "(a)",
    "{ a; }",
    "A=1 a",
    "A+=1 a",
    "A=1",
    "a 'b",
    'a "b',
    "a # b",
    "~/x",
    "cat ~/x",
    "cat ~user",
    "x a=~/x",
    "! a",
    "if a",
    "time a",
    "env a",
    "command a",
    "exec a",
    "eval a",
    ". a",
    "source a",
    "'' a",
    "a \u00a0b",
    "a 'b\u0000'",
    "a\u0000",
    "a 'b\nc'",
  ])("does not take %j for certain", (text) => {
    expect(parseCommand(text)).toBeUndefined();
  });

  it("understands every command that it accepts as bash does", () => {
    const piece = fc.constantFrom(
      ..."a|b| |'|\"|\\|$|$x|`|*|?|[|]|{a,b}|~|=|A=1|&|&&|;|<|>|(|)|#|!|\t|-x|%|^|@|:|a'b|$(a)|..|/".split(
        "|",
      ),
      "|",
      "||",
      "\n",
    );
    const accepted: string[] = [];
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 6 }), (pieces) => {
        const text = `printf ${pieces.join("")}`;
        // Several commands at once would need the output of each; the words of one are compared.
        if (parseCommand(text)?.commands.length === 1) accepted.push(text);
      }),
      { numRuns: 3000, seed: 7 },
    );
    expect(accepted.length).toBeGreaterThan(50);
    const script = accepted
      .map(
        (text) =>
          `f() { builtin printf '%s\\0' "$@"; builtin printf '\\1'; }; ${text.replace(/^printf/, "f")}`,
      )
      .join("\n");
    const output = execFileSync("bash", ["-c", script], { encoding: "utf8", cwd: "/" });
    const seen = output.split("\u0001").slice(0, -1);
    expect(seen).toHaveLength(accepted.length);
    for (const [index, text] of accepted.entries()) {
      const args = parseCommand(text)?.commands[0]?.words.slice(1) ?? [];
      // printf '%s\0' without arguments prints one empty one.
      const expected = args.length === 0 ? "\0" : args.map((word) => `${word}\0`).join("");
      expect(seen[index], text).toBe(expected);
    }
  });

  it("never throws, and gives at least one word to every command", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), (text) => {
        for (const command of parseCommand(text)?.commands ?? [])
          expect(command.words.length).toBeGreaterThan(0);
      }),
    );
  });
});
