import { filters, isTrue, textOf, type Value } from "./filters.js";

/** Where the values of an expression come from. `undefined` is a value that is not there. */
export type Scope = (path: readonly string[]) => Value;

export interface Expression {
  /** The value's name, or a literal. */
  readonly source: readonly string[] | { readonly literal: string | number };
  readonly filters: readonly { readonly name: string; readonly args: readonly (string | number)[] }[];
}

/** Text with expressions in it. */
export type Template = readonly (string | Expression)[];

/** A mistake in a template, or a value that is missing when it is rendered. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
}

/** Compiles text with `{{ expression }}` in it. Throws TemplateError. */
export function parseTemplate(text: string): Template {
  const parts: (string | Expression)[] = [];
  let at = 0;
  for (let open = text.indexOf("{{"); open !== -1; open = text.indexOf("{{", at)) {
    parts.push(text.slice(at, open));
    const { tokens, end } = tokenize(text, open + 2);
    if (!text.startsWith("}}", end))
      throw new TemplateError(`"{{" without "}}" in ${quote(text.slice(open))}`);
    parts.push(expression(tokens, text.slice(open + 2, end)));
    at = end + 2;
  }
  return [...parts, text.slice(at)].filter((part) => part !== "");
}

/** Compiles a bare expression, as in `when`. Throws TemplateError. */
export function parseExpression(text: string): Expression {
  const { tokens, end } = tokenize(text, 0);
  if (end !== text.length)
    throw new TemplateError(`${quote(text.slice(end))} does not belong in an expression`);
  return expression(tokens, text);
}

/** The template's text. Throws TemplateError for a missing value without a `default`. */
export function renderTemplate(template: Template, scope: Scope): string {
  return template.map((part) => (typeof part === "string" ? part : textOf(present(part, scope)))).join("");
}

/** As {@link renderTemplate}, but a template that is one expression and nothing else keeps a number a number. */
export function renderValue(template: Template, scope: Scope): string | number {
  const [only] = template;
  if (template.length !== 1 || only === undefined || typeof only === "string")
    return renderTemplate(template, scope);
  const value = present(only, scope);
  return typeof value === "number" ? value : textOf(value);
}

/** Whether the expression's value is there and says yes. */
export function holds(expression: Expression, scope: Scope): boolean {
  return isTrue(evaluate(expression, scope));
}

/** The names that a template's expressions start from. */
export function sourcesOf(parts: Template): readonly (readonly string[])[] {
  return parts.flatMap((part) => (typeof part === "string" || "literal" in part.source ? [] : [part.source]));
}

function present(expression: Expression, scope: Scope): Exclude<Value, undefined> {
  const value = evaluate(expression, scope);
  if (value !== undefined) return value;
  const name =
    "literal" in expression.source ? String(expression.source.literal) : expression.source.join(".");
  throw new TemplateError(`${name} has no value; add a default, such as | default "none"`);
}

function evaluate({ source, filters: chain }: Expression, scope: Scope): Value {
  let value: Value = "literal" in source ? source.literal : scope(source);
  for (const { name, args } of chain) {
    const filter = filters[name];
    value = value === undefined ? filter?.takesMissing?.(args) : filter?.apply(value, args);
  }
  return value;
}

type Token =
  | { readonly type: "literal"; readonly value: string | number }
  | { readonly type: "word"; readonly value: string }
  | { readonly type: "pipe" };

/** Tokens from `start` until something that is none; `end` is where that stands. */
function tokenize(text: string, start: number): { tokens: readonly Token[]; end: number } {
  const pattern = /\s*(?:"((?:[^"\\]|\\[\s\S])*)"|(-?\d+(?:\.\d+)?)(?![^\s|}])|(\|)|([^\s|"{}]+))/y;
  const tokens: Token[] = [];
  let end = start;
  for (;;) {
    pattern.lastIndex = end;
    const found = pattern.exec(text);
    if (found === null) break;
    end = pattern.lastIndex;
    const [, quoted, number, pipe, word] = found;
    if (quoted !== undefined) tokens.push({ type: "literal", value: unquote(quoted) });
    else if (number !== undefined) tokens.push({ type: "literal", value: Number(number) });
    else if (pipe !== undefined) tokens.push({ type: "pipe" });
    else if (word !== undefined) tokens.push({ type: "word", value: word });
  }
  return { tokens, end: end + (/^\s*/.exec(text.slice(end))?.[0].length ?? 0) };
}

/** `\"`, `\\`, `\n` and `\t`; other backslashes stay, so that patterns can be written with one or two of them. */
function unquote(quoted: string): string {
  return quoted.replace(/\\(["\\nt])/g, (_, character: string) =>
    character === "n" ? "\n" : character === "t" ? "\t" : character,
  );
}

function expression(tokens: readonly Token[], text: string): Expression {
  const [head, ...rest] = splitAtPipes(tokens);
  const [first, ...extra] = head ?? [];
  if (first === undefined || first.type === "pipe" || extra.length > 0)
    throw new TemplateError(`an expression starts with one name or literal: ${quote(text)}`);
  const source = first.type === "literal" ? { literal: first.value } : first.value.split(".");
  return { source, filters: rest.map((part) => filterCall(part, text)) };
}

function filterCall(tokens: readonly Token[], text: string): Expression["filters"][number] {
  const [first, ...rest] = tokens;
  if (first?.type !== "word") throw new TemplateError(`a filter's name must follow "|": ${quote(text)}`);
  const filter = Object.hasOwn(filters, first.value) ? filters[first.value] : undefined;
  if (filter === undefined) {
    const names = Object.keys(filters).join(", ");
    throw new TemplateError(`there is no filter ${quote(first.value)}; there are ${names}`);
  }
  const args = rest.flatMap((token) => (token.type === "literal" ? [token.value] : []));
  const [least, most] = filter.arity;
  if (args.length !== rest.length || args.length < least || args.length > most)
    throw new TemplateError(
      `${first.value} takes ${least === most ? least : `${least} to ${most}`} argument(s), quoted or a number: ${quote(text)}`,
    );
  if (filter.pattern !== undefined) checkPattern(String(args[filter.pattern]));
  return { name: first.value, args };
}

function checkPattern(pattern: string): void {
  try {
    new RegExp(pattern, "u");
  } catch (error) {
    throw new TemplateError(error instanceof Error ? error.message : String(error));
  }
}

function splitAtPipes(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const parts: Token[][] = [[]];
  for (const token of tokens) {
    if (token.type === "pipe") parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

function quote(text: string): string {
  return JSON.stringify(text.trim().slice(0, 80));
}
