import { usageLine } from "./arguments.js";
import type { Command } from "./command.js";
import { type OptionSpec, type OptionTable, sharedOptions } from "./option-table.js";

/** What `troupe --help` prints: every command that people start, a line each. */
export function overview(commands: readonly Command[]): string {
  const shown = commands.filter((command) => !command.hidden);
  return sections([
    ["Usage: troupe COMMAND [OPTIONS]", []],
    ["Commands:", shown.map((command) => [usageLine(command).slice("troupe ".length), command.describe])],
    ["Options of every command:", optionRows(sharedOptions)],
    ["", [["troupe COMMAND --help", "more about a command"]]],
  ]);
}

/** What `troupe COMMAND --help` prints, with an example. */
export function helpText(command: Command): string {
  return sections([
    [`Usage: ${usageLine(command)} [OPTIONS]`, []],
    [`${command.describe}.`, []],
    ["Options:", optionRows({ ...command.options, ...sharedOptions })],
    ["Examples:", command.examples],
  ]);
}

type Row = readonly [left: string, right: string];

function optionRows(table: OptionTable): Row[] {
  return Object.entries(table).map(([name, spec]) => [
    `${spec.short === undefined ? "    " : `-${spec.short}, `}--${name}${argumentOf(spec)}`,
    spec.choices === undefined ? spec.describe : `${spec.describe}: ${spec.choices.join(", ")}`,
  ]);
}

function argumentOf(spec: OptionSpec): string {
  if (spec.type === "boolean") return "";
  return ` ${spec.arg ?? { string: "TEXT", count: "N", duration: "TIME" }[spec.type]}`;
}

function sections(parts: readonly (readonly [title: string, rows: readonly Row[]])[]): string {
  return parts
    .filter(([title, rows]) => !title.endsWith(":") || rows.length > 0)
    .map(([title, rows]) => [...(title === "" ? [] : [title]), ...aligned(rows)].join("\n"))
    .join("\n\n")
    .concat("\n");
}

/** Two columns; a left side that is too long has a line of its own. */
function aligned(rows: readonly Row[]): string[] {
  const width = Math.max(0, ...rows.map(([left]) => left.length).filter((length) => length <= widest));
  return rows.map(([left, right]) =>
    left.length > widest
      ? `  ${left}\n  ${" ".repeat(width)}  ${right}`
      : `  ${left.padEnd(width)}  ${right}`,
  );
}

const widest = 46;
