/** What an expression can stand for; undefined is a value that is missing. */
export type Value = string | number | readonly string[] | undefined;

export interface Filter {
  /** How many arguments it takes, at least and at most. */
  readonly arity: readonly [number, number];
  /** The argument that is a regular expression, by position. */
  readonly pattern?: number;
  /** `value` is never missing, unless `takesMissing` says that the filter wants to know. */
  apply(value: Exclude<Value, undefined>, args: readonly (string | number)[]): Value;
  readonly takesMissing?: (args: readonly (string | number)[]) => Value;
}

/** The filters of the script language. A text counts as its lines wherever a list is wanted. */
export const filters: Readonly<Record<string, Filter>> = {
  lines: { arity: [0, 0], apply: (value) => listOf(value) },
  text: { arity: [0, 0], apply: (value) => textOf(value) },
  count: { arity: [0, 0], apply: (value) => listOf(value).length },
  items: { arity: [0, 0], apply: (value) => itemsOf(value) },
  total: { arity: [0, 0], apply: (value) => itemsOf(value).length + hiddenItems(value) },
  first: { arity: [0, 1], apply: (value, [n = 1]) => listOf(value).slice(0, Number(n)) },
  last: { arity: [0, 1], apply: (value, [n = 1]) => listOf(value).slice(-Number(n) || Infinity) },
  rest: { arity: [0, 0], apply: (value) => listOf(value).slice(1) },
  nth: { arity: [1, 1], apply: (value, [n = 1]) => listOf(value)[Number(n) - 1] },
  unique: { arity: [0, 0], apply: (value) => [...new Set(listOf(value))] },
  sort: { arity: [0, 0], apply: (value) => [...listOf(value)].sort() },
  rank: { arity: [0, 0], apply: (value) => rank(listOf(value)) },
  tally: { arity: [0, 0], apply: (value) => tally(listOf(value)) },
  sum: { arity: [0, 0], apply: (value) => listOf(value).reduce((sum, item) => sum + (Number(item) || 0), 0) },
  number: { arity: [0, 0], apply: (value) => numberOf(textOf(value)) },
  match: {
    arity: [1, 1],
    pattern: 0,
    apply: (value, [pattern = ""]) =>
      listOf(value).flatMap((line) =>
        Array.from(line.matchAll(regex(pattern, "gu")), ([whole, group]) => group ?? whole),
      ),
  },
  keep: {
    arity: [1, 1],
    pattern: 0,
    apply: (value, [pattern = ""]) => listOf(value).filter((line) => regex(pattern).test(line)),
  },
  drop: {
    arity: [1, 1],
    pattern: 0,
    apply: (value, [pattern = ""]) => listOf(value).filter((line) => !regex(pattern).test(line)),
  },
  replace: {
    arity: [2, 2],
    pattern: 0,
    apply: (value, [pattern = "", by = ""]) =>
      each(value, (text) => text.replace(regex(pattern, "gu"), String(by))),
  },
  join: { arity: [1, 1], apply: (value, [separator = ""]) => listOf(value).join(String(separator)) },
  bullets: { arity: [0, 0], apply: (value) => listOf(value).map((item) => `- ${item}`) },
  numbered: { arity: [0, 0], apply: (value) => listOf(value).map((item, i) => `${i + 1}. ${item}`) },
  trim: { arity: [0, 0], apply: (value) => each(value, (text) => text.trim()) },
  truncate: {
    arity: [1, 1],
    apply: (value, [width = 80]) =>
      each(value, (text) => (text.length > Number(width) ? `${text.slice(0, Number(width) - 1)}…` : text)),
  },
  default: {
    arity: [1, 1],
    apply: (value, [fallback]) => (textOf(value).trim() === "" ? fallback : value),
    takesMissing: ([fallback]) => fallback,
  },
  not: {
    arity: [0, 0],
    apply: (value) => (isTrue(value) ? "false" : "true"),
    takesMissing: () => "true",
  },
};

/** Whether a `when` holds: missing, empty, 0 and "false" do not. */
export function isTrue(value: Value): boolean {
  if (value === undefined || value === 0) return false;
  const text = textOf(value).trim();
  return text !== "" && text !== "0" && text !== "false";
}

/** A value as text; a list as its lines. */
export function textOf(value: Exclude<Value, undefined>): string {
  return typeof value === "object" ? value.join("\n") : String(value);
}

/** A value as a list; a text as its lines that are not blank. */
function listOf(value: Exclude<Value, undefined>): readonly string[] {
  if (typeof value === "object") return value;
  return String(value)
    .split(/\r?\n/)
    .map((line) => line.trimEnd())
    .filter((line) => line !== "");
}

/** What Glob and Grep list, without the line that says that there is nothing or more: `(15 more; …)`, `No match for …`. */
function itemsOf(value: Exclude<Value, undefined>): readonly string[] {
  return listOf(value).filter((line) => !/^\(.*more.*\)$|^No (file matches|match for) /.test(line));
}

function hiddenItems(value: Exclude<Value, undefined>): number {
  return Number(/^\((?:Showing .*, )?(\d+) more;.*\)$/.exec(listOf(value).at(-1) ?? "")?.[1] ?? 0);
}

function each(value: Exclude<Value, undefined>, change: (text: string) => string): Value {
  return typeof value === "object" ? value.map(change) : change(String(value));
}

/** `item (times)`, the most frequent first, equal ones by name. */
function tally(items: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return [...counts]
    .sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
    .map(([item, times]) => `${item} (${times})`);
}

/** By the number that a line ends with, the largest first; lines without one last. */
function rank(lines: readonly string[]): readonly string[] {
  const weight = (line: string) => Number(/(\d+)\D*$/.exec(line)?.[1] ?? -1);
  return [...lines].sort((a, b) => weight(b) - weight(a));
}

function numberOf(text: string): number | undefined {
  const number = Number(text);
  return text.trim() === "" || Number.isNaN(number) ? undefined : number;
}

function regex(pattern: string | number, flags = "u"): RegExp {
  return new RegExp(String(pattern), flags);
}
