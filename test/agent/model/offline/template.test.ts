import fc from "fast-check";
import { expect, test } from "vitest";
import {
  holds,
  parseExpression,
  parseTemplate,
  renderTemplate,
  renderValue,
  type Scope,
  TemplateError,
} from "../../../../src/agent/model/offline/template.js";

const values: Record<string, string> = {
  "result.files": "src/a.ts\nsrc/b.ts\n\nREADME.md\n(15 more; use a narrower pattern or a path.)",
  "result.grep":
    "src/a.ts:3:export function one() {}\nsrc/b.ts:9:export function two() {}\nsrc/a.ts:5:export function one() {}",
  "result.none": "No match for x.",
  "mail.scout": "  hello  ",
};
const scope: Scope = (path) => values[path.join(".")];
const render = (text: string) => renderTemplate(parseTemplate(text), scope);

test.each([
  ["plain { text } stays", "plain { text } stays"],
  ["{{ result.files | items | count }} shown, {{result.files|total}} in all", "3 shown, 18 in all"],
  ["{{ result.none | items | count }} and {{ result.none | total }}", "0 and 0"],
  ["{{ result.files | lines | first 2 | bullets }}", "- src/a.ts\n- src/b.ts"],
  ["{{ result.files | items | last | nth 1 }}", "README.md"],
  ["{{ result.files | items | rest | first }}", "src/b.ts"],
  ['{{ result.grep | match "export function (\\w+)" | unique | count }}', "2"],
  ['{{ result.grep | match "export function (\\\\w+)" | tally }}', "one (2)\ntwo (1)"],
  ['{{ result.grep | match ":(\\d+):" | sum }}', "17"],
  ['{{ result.files | items | keep "\\.ts$" | join ", " }}', "src/a.ts, src/b.ts"],
  ['{{ result.files | items | drop "\\.ts$" | numbered }}', "1. README.md"],
  ['{{ result.files | items | replace "^src/(.)" "$1!" | sort }}', "README.md\na!.ts\nb!.ts"],
  ['{{ "a:2\\nb:10\\nc\\nd (7)" | rank | join " " }}', "b:10 d (7) a:2 c"],
  ["[{{ mail.scout | trim }}]", "[hello]"],
  ["{{ mail.scout | trim | truncate 3 }}", "he…"],
  ['{{ result.gone | lines | count | default "none" }}', "none"],
  ['{{ "" | default "none" }}', "none"],
  ['{{ "}} {{ | \\"quoted\\"" }}', '}} {{ | "quoted"'],
  ['{{ "a\\nb" | lines | join "+" }}', "a+b"],
])("%s", (template, expected) => {
  expect(render(template)).toBe(expected);
});

test("a lone expression keeps a number", () => {
  expect(renderValue(parseTemplate('{{ result.grep | match ":(\\d+):" | first | number }}'), scope)).toBe(3);
  expect(renderValue(parseTemplate("{{ 7 }}"), scope)).toBe(7);
  expect(renderValue(parseTemplate("{{ 7 }}."), scope)).toBe("7.");
});

test.each([
  ["result.files", true],
  ["result.none | items", false],
  ["result.gone", false],
  ["result.gone | not", true],
  ["result.files | not", false],
  ["result.none | items | count", false],
  ['"false"', false],
])("when: %s", (expression, expected) => {
  expect(holds(parseExpression(expression), scope)).toBe(expected);
});

test.each([
  ["{{ result.files", '"{{" without "}}"'],
  ["{{ }}", "starts with one name"],
  ["{{ a b }}", "starts with one name"],
  ["{{ a | }}", "a filter's name must follow"],
  ["{{ a | shout }}", 'no filter "shout"'],
  ["{{ a | constructor }}", 'no filter "constructor"'],
  ["{{ a | first 1 2 }}", "first takes 0 to 1 argument(s)"],
  ["{{ a | match }}", "match takes 1 argument(s)"],
  ["{{ a | match x }}", "match takes 1 argument(s)"],
  ['{{ a | match "(" }}', "Invalid regular expression"],
])("%s is a mistake", (template, words) => {
  expect(() => parseTemplate(template)).toThrow(TemplateError);
  expect(() => parseTemplate(template)).toThrow(words);
});

test("a missing value without default names itself", () => {
  expect(() => render("{{ result.gone | lines | first }}")).toThrow("result.gone has no value");
});

test("any text parses or is a TemplateError, and text without braces is itself", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      try {
        const parsed = parseTemplate(text);
        if (!text.includes("{{")) expect(renderTemplate(parsed, scope)).toBe(text);
      } catch (error) {
        expect(error).toBeInstanceOf(TemplateError);
      }
    }),
  );
});
