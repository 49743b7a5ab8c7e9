import { isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml";
import { messageOf } from "./errors.js";
import { oneLine } from "./text.js";

/** Something found in a file: `error` where what it is about cannot be used, `warning` where it can. Lines count from 1. */
export interface FileDiagnostic {
  readonly level: "error" | "warning";
  readonly line: number;
  readonly message: string;
}

export interface Frontmatter {
  /** The fields; empty where there is no frontmatter, or none that can be read. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** What follows it, without blank lines around. */
  readonly body: string;
  readonly diagnostics: readonly FileDiagnostic[];
  /** The line that a field stands in; 1 for one that is not there. */
  lineOf(field: string): number;
}

/**
 * Reads a Markdown file that begins with YAML between two `---` lines. A field that stands there twice is merged if both
 * are maps, else the last one counts, with a warning. A plain value with a colon in it, which YAML forbids and people
 * write, is taken as text, with a warning. Never throws.
 */
export function parseFrontmatter(text: string): Frontmatter {
  const normal = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const [whole, yaml] = /^---[ \t]*\n((?:.*\n)*?)---[ \t]*(?:\n|$)/.exec(normal) ?? [];
  if (whole === undefined || yaml === undefined) {
    const open = /^---[ \t]*\n/.test(normal);
    const diagnostics: FileDiagnostic[] = open
      ? [{ level: "error", line: 1, message: "the frontmatter has no closing ---" }]
      : [];
    return { fields: {}, body: normal.trim(), diagnostics, lineOf: () => 1 };
  }
  return { ...parseFields(yaml), body: normal.slice(whole.length).trim() };
}

function parseFields(yaml: string): Omit<Frontmatter, "body"> {
  const strict = read(yaml);
  const { document, lineAt } = strict.problem === undefined ? strict : read(quotePlainValues(yaml));
  const problem = document.errors[0];
  if (strict.problem !== undefined && problem !== undefined)
    return unreadable(strict.problem.message, strict.problem.line);
  if (document.contents === null) return { fields: {}, diagnostics: [], lineOf: () => 1 };
  if (!isMap(document.contents)) return unreadable("the frontmatter is not a list of fields", 2);

  const diagnostics: FileDiagnostic[] = [];
  const warn = (line: number, message: string) => diagnostics.push({ level: "warning", line, message });
  if (strict.problem !== undefined)
    warn(strict.problem.line, "a value with a colon belongs in quotes; it was taken as text");
  const fields = new Map<string, { readonly line: number; readonly value: unknown }>();
  try {
    for (const { key, value } of document.contents.items) {
      const name = isScalar(key) ? String(key.value) : String(key);
      const line = lineAt(isNode(key) ? key.range?.[0] : undefined);
      const next: unknown = isNode(value) ? value.toJS(document, { maxAliasCount: 100 }) : null;
      const before = fields.get(name);
      const merged = isRecord(before?.value) && isRecord(next);
      if (before !== undefined)
        warn(line, `the field ${name} is here twice; ${merged ? "both were merged" : "the last one counts"}`);
      fields.set(name, { line, value: merged ? { ...Object(before?.value), ...next } : next });
    }
  } catch (error) {
    // An alias that expands beyond bounds.
    return unreadable(messageOf(error), 2);
  }
  return {
    fields: Object.fromEntries(Array.from(fields, ([name, { value }]) => [name, value])),
    diagnostics,
    lineOf: (field) => fields.get(field)?.line ?? 1,
  };
}

function read(yaml: string) {
  const lineCounter = new LineCounter();
  const document = parseDocument(yaml, { uniqueKeys: false, lineCounter });
  // The opening --- is line 1 of the file.
  const lineAt = (offset: number | undefined) =>
    offset === undefined ? 1 : lineCounter.linePos(offset).line + 1;
  const [error] = document.errors;
  const message = oneLine(error?.message.split("\n")[0] ?? "");
  return {
    document,
    lineAt,
    problem: error === undefined ? undefined : { message, line: lineAt(error.pos[0]) },
  };
}

/** Puts quotes around the values of top-level fields that are plain text with `: ` or ` #` in it. */
function quotePlainValues(yaml: string): string {
  return yaml.replace(
    /^([A-Za-z][\w-]*:[ \t]+)([^\s"'[\]{}|>&*!%@`#-].*)$/gm,
    (line, field: string, value: string) =>
      /:(\s|$)|\s#/.test(value) ? field + JSON.stringify(value.trimEnd()) : line,
  );
}

function unreadable(message: string, line: number): Omit<Frontmatter, "body"> {
  return { fields: {}, diagnostics: [{ level: "error", line, message }], lineOf: () => 1 };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
