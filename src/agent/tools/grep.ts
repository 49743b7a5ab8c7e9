import path from "node:path";
import * as z from "zod";
import type { Tool } from "../tool.js";
import { absolutePath } from "./resolve-path.js";
import { count, displayPath } from "./result-text.js";
import { exclusions, ripgrep } from "./ripgrep.js";
import { type SearchRoot, searchRoot } from "./search-root.js";

const description = `Searches file contents for a regular expression (ripgrep's syntax; braces are literal only when escaped).
- output_mode: "files_with_matches" (default) lists files, "content" shows matching lines, "count" counts lines per file.
- glob ("*.ts") or type ("ts", "py") narrow the files; path a directory or one file. .gitignore is respected, .git left out.
- -A, -B, -C show lines after, before, around a match; -n (default true) their numbers; both only with "content".
- multiline lets a pattern span lines and . match a line end. head_limit bounds lines or files shown, default 200.`;

const context = z.number().int().min(0).max(1000).optional();

const schema = z.strictObject({
  pattern: z.string().min(1).describe("The regular expression"),
  path: z.string().optional().describe("File or directory to search; default the working directory"),
  glob: z.string().min(1).optional().describe("Only files that match this glob; !glob leaves files out"),
  type: z.string().min(1).optional().describe("Only files of this type, as ripgrep names them"),
  output_mode: z.enum(["content", "files_with_matches", "count"]).optional(),
  "-i": z.boolean().optional().describe("Ignore case"),
  "-n": z.boolean().optional().describe("Show line numbers"),
  "-A": context.describe("Lines after each match"),
  "-B": context.describe("Lines before each match"),
  "-C": context.describe("Lines around each match"),
  multiline: z.boolean().optional(),
  head_limit: z.number().int().min(1).max(10_000).optional(),
});

type Input = z.infer<typeof schema>;

const outputBytes = 8 * 1024 * 1024;
const resultChars = 60_000;

export function createGrepTool(): Tool<Input> {
  return {
    name: "Grep",
    description,
    schema,
    isReadOnly: () => true,
    subjectKind: "path",
    summarise: (input) => (input.path === undefined ? input.pattern : `${input.pattern} in ${input.path}`),
    permissionSubjects: (input, { cwd }) => [absolutePath(input.path ?? ".", cwd)],
    async run(input, context) {
      const root = await searchRoot(input.path, context);
      const result = await ripgrep(
        [...flags(input), ...exclusions(root.closed), "-e", input.pattern, "--", root.file ?? "./"],
        { cwd: root.dir, maxBytes: outputBytes },
        context,
      );
      if (result.exitCode === 2 && result.stdout === "" && result.stderr !== "")
        return { content: `The search was refused:\n${result.stderr.trim()}`, isError: true };
      // What stands behind the last separator is empty, or cut off at the cap.
      const lines = result.stdout.split(modeOf(input) === "files_with_matches" ? "\0" : "\n").slice(0, -1);
      if (lines.length === 0) return { content: `No match for ${input.pattern}.` };
      const entries = lines.map((line) => formatEntry(line, input, root, context.cwd));
      return { content: bounded(entries, input, result.truncated) };
    },
  };
}

function modeOf(input: Input): NonNullable<Input["output_mode"]> {
  return input.output_mode ?? "files_with_matches";
}

function flags(input: Input): string[] {
  const args = ["--null", "--with-filename", "--no-heading", "--no-messages", "--sort=path", "--line-number"];
  const mode = modeOf(input);
  if (mode === "files_with_matches") args.push("--files-with-matches");
  if (mode === "count") args.push("--count");
  if (mode === "content") {
    args.push("--max-columns=500", "--max-columns-preview");
    for (const name of ["-A", "-B", "-C"] as const) {
      const lines = input[name];
      if (lines !== undefined) args.push(`${name}${lines}`);
    }
  }
  if (input["-i"] === true) args.push("--ignore-case");
  if (input.multiline === true) args.push("--multiline", "--multiline-dotall");
  if (input.type !== undefined) args.push(`--type=${input.type}`);
  if (input.glob !== undefined) args.push(`--glob=${input.glob}`);
  return args;
}

/** One entry of ripgrep's output: a path, `path NUL rest`, or the `--` between groups. */
function formatEntry(entry: string, input: Input, root: SearchRoot, cwd: string): string {
  const shown = (file: string) => displayPath(path.join(root.dir, file), cwd);
  if (modeOf(input) === "files_with_matches") return shown(entry);
  const end = entry.indexOf("\0");
  if (end === -1) return entry;
  const file = shown(entry.slice(0, end));
  const rest = entry.slice(end + 1);
  const [, number, mark = ":", text = ""] = /^(\d+)([:-])(.*)$/s.exec(rest) ?? [];
  if (number === undefined) return `${file}:${rest}`;
  return input["-n"] === false ? `${file}${mark}${text}` : `${file}${mark}${number}${mark}${text}`;
}

function bounded(entries: readonly string[], input: Input, truncated: boolean): string {
  const limit = input.head_limit ?? 200;
  let length = 0;
  const shown: string[] = [];
  for (const entry of entries) {
    length += entry.length + 1;
    if (shown.length === limit || (length > resultChars && shown.length > 0)) break;
    shown.push(entry);
  }
  const rest = entries.length - shown.length;
  if (rest === 0 && !truncated) return shown.join("\n");
  const more = truncated ? "many more" : `${rest} more`;
  const noun = input.output_mode === "content" ? "line" : "file";
  shown.push(`(Showing ${count(shown.length, noun)}, ${more}; narrow the search or raise head_limit.)`);
  return shown.join("\n");
}
