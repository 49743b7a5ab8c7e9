import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkArguments } from "../../src/cli/arguments.js";
import type { Command } from "../../src/cli/command.js";
import { commands } from "../../src/cli/commands/index.js";
import { parseDuration } from "../../src/cli/durations.js";
import { type OptionTable, sharedOptions } from "../../src/cli/option-table.js";
import { parseFast } from "../../src/cli/parse-fast.js";
import { parseLine } from "../../src/cli/program.js";

const fast = commands.filter(({ takesRest }) => takesRest !== true);

describe("the two parsers", () => {
  it("agree on every line that the fast one accepts", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...fast),
        fc.array(anyWord(), { maxLength: 7 }),
        async (command, words) => {
          const raw = parseFast(command, words);
          fc.pre(raw !== undefined);
          expect(await fullyParsed(command, words)).toEqual(judged(command, raw));
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each([
    ["q", "--require-running", "true"],
    ["q", "--json", "false"],
    ["q", "--", "--json"],
    ["--", "-", "--"],
    ["q", "--team=", "x"],
    ["q", "--summary=--json", "x=y"],
    ["01", "1e3", "--id", "0x10"],
    ["null", "undefined", "--file", "true"],
  ])("read %s %s %s %s alike", async (...words) => {
    for (const command of fast) {
      const raw = parseFast(command, words);
      if (command.name === "send") expect(raw).toBeDefined();
      if (raw !== undefined) expect(await fullyParsed(command, words)).toEqual(judged(command, raw));
    }
  });

  it("both accept every line as the help shows it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...fast).chain(plainLine), async ({ command, words }) => {
        const raw = parseFast(command, words);
        expect(raw, words.join(" ")).toBeDefined();
        expect(await fullyParsed(command, words)).toEqual(raw && judged(command, raw));
      }),
      { numRuns: 100 },
    );
  });

  it("leave to the full one what a signal must not just end", () => {
    const inbox = fast.find(({ name }) => name === "inbox")!;
    expect(parseFast(inbox, ["--listen", "s"])).toBeUndefined();
    expect(parseFast(inbox, ["--follow"])).toBeDefined();
  });

  it("leave help to the full one", () => {
    for (const command of fast) expect(parseFast(command, ["-h"])).toBeUndefined();
  });
});

describe("parseDuration", () => {
  it.each([
    ["500ms", 500],
    ["30s", 30_000],
    ["30", 30_000],
    ["1.5m", 90_000],
    ["2h", 7_200_000],
    ["0", 0],
  ])("reads %s", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(["", "s", "-1s", "1e3", "30 s", "1w", "100d", "Infinity", "0x10"])("refuses %j", (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});

type Judged = { readonly args: unknown } | { readonly error: unknown };

function judged(command: Command, raw: Parameters<typeof checkArguments>[1]): Judged {
  try {
    return { args: checkArguments(command, raw) };
  } catch (error) {
    return { error: String(error) };
  }
}

async function fullyParsed(command: Command, words: readonly string[]): Promise<Judged> {
  const line = await parseLine([command.name, ...words], fast);
  return line.type === "command" ? judged(line.command, line.raw) : { error: line.text };
}

/** Words of command lines, and what people and scripts get wrong. */
function anyWord(): fc.Arbitrary<string> {
  const names = [...new Set(fast.flatMap(({ options }) => Object.keys({ ...sharedOptions, ...options })))];
  const option = fc.constantFrom(...names).map((name) => `--${name}`);
  const value = fc.constantFrom(
    "seen",
    "30s",
    "",
    "-",
    "x=y",
    "-1",
    "q",
    "*",
    "0",
    "01",
    "true",
    "false",
    "null",
    "a b",
    '"q"',
    "send",
  );
  return fc.oneof(
    option,
    value,
    fc.tuple(option, value).map(([name, text]) => `${name}=${text}`),
    fc.constantFrom(
      "--",
      "-f",
      "-h",
      "-fh",
      "--no-json",
      "--JSON",
      "--reply-to.x",
      "---",
      "--requireRunning",
      "-t",
      "-5",
    ),
    fc.string({ maxLength: 6 }),
  );
}

function plainLine(command: Command): fc.Arbitrary<{ command: Command; words: string[] }> {
  const { help, ...table }: OptionTable = { ...sharedOptions, ...command.options };
  const word = fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 12 })
    .filter((text) => !text.startsWith("-"));
  const ordinary = Object.entries(table).filter(([, spec]) => !spec.cleansUp);
  const options = ordinary.map(([name, spec]) => {
    const value =
      spec.choices !== undefined
        ? fc.constantFrom(...spec.choices)
        : spec.type === "duration"
          ? fc.constant("5s")
          : word;
    if (spec.type === "boolean") return fc.constant([`--${name}`]);
    return fc
      .tuple(value, fc.boolean())
      .map(([text, joined]) => (joined ? [`--${name}=${text}`] : [`--${name}`, text]));
  });
  const positionals = fc.array(fc.oneof(word, fc.constant("-")), {
    minLength: command.required,
    maxLength: command.positionals.length,
  });
  return fc
    .tuple(positionals, fc.shuffledSubarray(options.map((_, index) => index)), fc.tuple(...options))
    .chain(([given, chosen, made]) => {
      const parts = [...given.map((text) => [text]), ...chosen.map((index) => made[index] ?? [])];
      return fc.shuffledSubarray(parts, { minLength: parts.length });
    })
    .map((parts) => ({ command, words: parts.flat() }));
}
