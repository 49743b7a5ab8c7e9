import type { Usage } from "../agent/events.js";
import type { MemberState } from "../team/member-state.js";
import { oneLine } from "../util/text.js";
import type { Style } from "./style.js";
import { cut, displayWidth, padded, steady } from "./width.js";
import { durationWords, modelLabel, stateWords, tokenWords } from "./words.js";

/** One member as `status` shows it. A `MemberRecord` with its unread count is one. */
export interface StatusRow extends MemberState {
  readonly name: string;
  readonly colour?: string;
  /** What it does now, in one line. */
  readonly activity?: string;
  /** Messages in its mailbox that it has not taken. */
  readonly unread: number;
  readonly model?: string;
  /** Tokens of the latest request. */
  readonly context?: number;
  readonly billed?: Usage;
  /** Where it runs: `tmux`, `in-process`. */
  readonly backend?: string;
  readonly pane?: string;
  readonly paneClosed?: true;
}

/**
 * A table of members. In `columns` it fits the terminal: columns that matter less are left out and the last one is cut.
 * With `Infinity`, for files and pipes, nothing is left out or cut.
 */
export function renderStatus(
  members: readonly StatusRow[],
  options: { readonly style: Style; readonly columns: number; readonly now: Date },
): string[] {
  const { style, columns } = options;
  const rows = members.map((member) => ({ member, cells: cellsOf(member, options.now) }));
  const used = headings.filter(({ key }) => rows.some(({ cells }) => cells[key] !== ""));
  const widths = new Map(
    used.map(({ key }) => [
      key,
      Math.max(displayWidth(titles[key]), ...rows.map(({ cells }) => displayWidth(cells[key]))),
    ]),
  );
  const shown = fitting(used, widths, columns);
  const render = (textOf: (key: Column, text: string) => string, cells: Cells): string => {
    const line = shown.map(({ key }, index) => {
      const isLast = index === shown.length - 1;
      return textOf(key, isLast ? cells[key] : padded(cells[key], widths.get(key) ?? 0, style.symbols.more));
    });
    return cut(line.join(gap), columns, style.symbols.more).trimEnd();
  };
  return [
    render((_, text) => style.dim(text), titles),
    ...rows.map(({ member, cells }) => render((key, text) => decorate(key, text, member, style), cells)),
  ];
}

type Column = "name" | "state" | "since" | "unread" | "activity" | "model" | "context" | "tokens" | "where";
type Cells = Readonly<Record<Column, string>>;

const titles: Cells = {
  name: "NAME",
  state: "STATE",
  since: "SINCE",
  unread: "UNREAD",
  model: "MODEL",
  context: "CONTEXT",
  tokens: "TOKENS",
  where: "WHERE",
  activity: "ACTIVITY",
};

/** Columns as they stand; those with the highest `drop` are left out first where room is short. */
const headings: readonly { readonly key: Column; readonly drop: number }[] = [
  { key: "name", drop: 0 },
  { key: "state", drop: 0 },
  { key: "since", drop: 2 },
  { key: "unread", drop: 1 },
  { key: "model", drop: 4 },
  { key: "context", drop: 5 },
  { key: "tokens", drop: 6 },
  { key: "where", drop: 3 },
  { key: "activity", drop: 0 },
];

const gap = "  ";
const leastActivity = 16;

function fitting(
  used: readonly { readonly key: Column; readonly drop: number }[],
  widths: ReadonlyMap<Column, number>,
  columns: number,
): readonly { readonly key: Column }[] {
  const needed = (list: typeof used): number =>
    list.reduce((sum, { key }) => {
      const width = widths.get(key) ?? 0;
      return sum + gap.length + (key === "activity" ? Math.min(width, leastActivity) : width);
    }, -gap.length);
  let shown = used;
  while (needed(shown) > columns) {
    const worst = Math.max(...shown.map(({ drop }) => drop));
    if (worst <= 0) break;
    shown = shown.filter(({ drop }) => drop !== worst);
  }
  return shown;
}

function cellsOf(member: StatusRow, now: Date): Cells {
  const { billed, context } = member;
  const since = now.getTime() - new Date(member.since).getTime();
  const read = billed === undefined ? 0 : billed.input + billed.cacheRead + billed.cacheWrite;
  return {
    name: oneLine(member.name),
    state: steady(oneLine(stateWords(member), 48)),
    since: Number.isNaN(since) ? "" : durationWords(since),
    unread: member.unread === 0 ? "" : String(member.unread),
    model: member.model === undefined ? "" : modelLabel(member.model),
    context: context === undefined ? "" : tokenWords(context),
    tokens: billed === undefined ? "" : `${tokenWords(read)} in, ${tokenWords(billed.output)} out`,
    where: oneLine([member.backend, member.pane, member.paneClosed && "(closed)"].filter(Boolean).join(" ")),
    activity: steady(oneLine(member.activity ?? "")),
  };
}

function decorate(key: Column, text: string, member: StatusRow, style: Style): string {
  if (key === "name") return style.paint(member.colour ?? "", text);
  if (key === "state" && (member.reason === "failed" || member.reason === "lost")) return style.bad(text);
  if (key === "state" && member.reason?.startsWith("waiting-p")) return style.warn(text);
  if (key === "unread") return style.warn(text);
  return text;
}
