import { parseArgs } from "node:util";
import type { RawArguments } from "./arguments.js";
import type { Command } from "./command.js";
import { sharedOptions } from "./option-table.js";

/**
 * Reads a command line (without the command's name) by Node's own parser, for commands that must start quickly.
 * Undefined means: hand the line to the full parser, which understands more and explains what is wrong. A line that is
 * accepted here is read in the same way there.
 */
export function parseFast(command: Command, argv: readonly string[]): RawArguments | undefined {
  if (command.takesRest) return undefined;
  const options = Object.fromEntries(
    Object.entries({ ...sharedOptions, ...command.options }).map(([name, spec]) => [
      name,
      {
        type: spec.type === "boolean" ? ("boolean" as const) : ("string" as const),
        multiple: true,
        ...("short" in spec && spec.short !== undefined ? { short: spec.short } : {}),
      },
    ]),
  );
  let tokens: ReturnType<typeof tokensOf>;
  try {
    tokens = tokensOf(argv, options);
  } catch {
    return undefined;
  }
  const values = new Map<string, (string | boolean)[]>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind === "option")
      values.set(token.name, [...(values.get(token.name) ?? []), token.value ?? true]);
  }
  const needsMore = Object.entries(command.options).some(([name, spec]) => spec.cleansUp && values.has(name));
  return needsMore || values.has("help") ? undefined : { values, positionals, rest: [] };
}

function tokensOf(argv: readonly string[], options: NonNullable<Parameters<typeof parseArgs>[0]>["options"]) {
  const { tokens } = parseArgs({
    args: [...argv],
    options: options ?? {},
    allowPositionals: true,
    strict: true,
    tokens: true,
  });
  return tokens;
}
