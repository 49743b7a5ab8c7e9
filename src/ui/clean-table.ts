import type { CleanReport } from "../team/clean.js";
import { oneLine } from "../util/text.js";
import type { Style } from "./style.js";
import { displayWidth, padded } from "./width.js";

/** What `clean` found and what became of it: a row each, then what it did not look into. */
export function renderClean({ items, skipped }: CleanReport, style: Style): string[] {
  const cells = items.map(({ team, kind, what, outcome }) => [
    oneLine(team, 60),
    kind,
    outcomeWords[outcome],
    oneLine(what, 200),
  ]);
  const table = cells.length === 0 ? [] : [titles, ...cells];
  const widths = titles.map((_, column) =>
    Math.max(0, ...table.map((row) => displayWidth(row[column] ?? ""))),
  );
  const rows = table.map((row) =>
    row
      .map((cell, column) => padded(cell, widths[column] ?? 0, style.symbols.more))
      .join("  ")
      .trimEnd(),
  );
  return [
    ...rows.map((row, index) =>
      index === 0 ? style.dim(row) : items[index - 1]?.outcome === "left" ? style.bad(row) : row,
    ),
    ...skipped.flatMap(({ what, reason, remedy }) => [
      style.warn(`not looked into: ${oneLine(what)}: ${oneLine(reason)}`),
      ...(remedy === "" ? [] : [`  ${oneLine(remedy)}`]),
    ]),
    ...(items.length + skipped.length === 0 ? ["nothing to do"] : []),
  ];
}

const titles = ["TEAM", "WHAT", "NOW", "WHICH"];

const outcomeWords = { found: "found", ended: "gone", left: "still there", kept: "kept" } as const;
