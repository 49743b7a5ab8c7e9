import fsp from "node:fs/promises";
import path from "node:path";
import * as z from "zod";
import { errnoOf, TroupeError } from "../../util/errors.js";
import { oneLine } from "../../util/text.js";
import type { Tool, ToolContext } from "../tool.js";
import { absolutePath } from "./resolve-path.js";
import { displayPath } from "./result-text.js";
import { exclusions, ripgrep } from "./ripgrep.js";
import { searchRoot } from "./search-root.js";

const description = `Finds files by name, newest first.
- pattern is a glob like "**/*.ts" or "src/{a,b}/*.json", relative to path; "*.ts" alone finds only what lies directly in it.
- Hidden files are found; files that .gitignore excludes, .git and directories are not. Links are not followed.
- At most 100 files are listed; the result says how many more there are.`;

const schema = z.strictObject({
  pattern: z.string().min(1).describe("The glob"),
  path: z.string().optional().describe("Directory to search in; default the working directory"),
});

const shown = 100;
const listingBytes = 64 * 1024 * 1024;

export function createGlobTool(): Tool<z.infer<typeof schema>> {
  return {
    name: "Glob",
    description,
    schema,
    isReadOnly: () => true,
    subjectKind: "path",
    summarise: (input) => (input.path === undefined ? input.pattern : `${input.pattern} in ${input.path}`),
    permissionSubjects: (input, { cwd }) => [absolutePath(input.path ?? ".", cwd)],
    async run(input, context) {
      const root = await searchRoot(input.path, context);
      if (root.file !== undefined)
        throw new TroupeError("path-not-directory", `${input.path} is not a directory.`);
      const glob = anchored(input.pattern, root.dir);
      const closed = exclusions(root.closed);
      // A glob overrides ignore files in ripgrep, so that what both listings have is what was asked for.
      const [visible, matching] = await Promise.all([
        list(closed, root.dir, context),
        list([`--glob=${glob}`, ...closed], root.dir, context),
      ]);
      const kept = new Set(visible);
      const files = await newestFirst(
        matching.filter((file) => kept.has(file)).map((file) => path.join(root.dir, file)),
      );
      if (files.length === 0) return { content: `No file matches ${input.pattern}.` };
      const lines = files.slice(0, shown).map((file) => displayPath(file, context.cwd));
      if (files.length > shown)
        lines.push(`(${files.length - shown} more; use a narrower pattern or a path.)`);
      return { content: lines.join("\n") };
    },
  };
}

/** The glob as ripgrep wants it: only matching from the root of the search on. */
function anchored(pattern: string, dir: string): string {
  const relative = path.isAbsolute(pattern) ? path.relative(dir, pattern) : pattern.replace(/^(\.\/)+/, "");
  if (relative.split("/").includes(".."))
    throw new TroupeError(
      "glob-outside",
      `The pattern ${pattern} leads out of ${dir}; give the directory as path.`,
    );
  return `/${relative}`;
}

async function list(args: readonly string[], cwd: string, context: ToolContext): Promise<string[]> {
  const result = await ripgrep(
    ["--files", "--null", "--no-messages", ...args],
    { cwd, maxBytes: listingBytes },
    context,
  );
  if (result.exitCode === 2 && result.stdout === "" && result.stderr !== "")
    throw new TroupeError("glob-invalid", `The pattern was not understood: ${oneLine(result.stderr, 500)}`);
  if (result.truncated)
    throw new TroupeError(
      "glob-too-many",
      "There are too many files here to list them all; give a deeper path.",
    );
  return result.stdout.split("\0").filter((file) => file !== "");
}

async function newestFirst(files: readonly string[]): Promise<string[]> {
  const dated: { file: string; mtimeMs: number }[] = [];
  for (let at = 0; at < files.length; at += 256) {
    const batch = files.slice(at, at + 256).map(async (file) => ({ file, mtimeMs: await mtimeOf(file) }));
    dated.push(...(await Promise.all(batch)));
  }
  return dated.sort((a, b) => b.mtimeMs - a.mtimeMs || (a.file < b.file ? -1 : 1)).map(({ file }) => file);
}

/** A file that went meanwhile sorts last. */
async function mtimeOf(file: string): Promise<number> {
  try {
    return (await fsp.lstat(file)).mtimeMs;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return 0;
    throw error;
  }
}
