import fsp from "node:fs/promises";
import path from "node:path";
import { errnoOf, messageOf } from "../../util/errors.js";
import type { FileDiagnostic } from "../../util/frontmatter.js";
import type { AgentDefinition, DefinitionSource } from "./definition.js";
import { parseDefinition } from "./parse.js";

export interface DefinitionDirectory {
  readonly dir: string;
  readonly source: DefinitionSource;
}

export interface LoadedDefinitions {
  /** In the order of the directories, by file name within one. */
  readonly items: readonly AgentDefinition[];
  /** What is wrong, with its file; a file with an error gives no item, all others do. */
  readonly diagnostics: readonly (FileDiagnostic & { readonly file: string })[];
}

const maxBytes = 1024 * 1024;

/** Reads the `*.md` files of directories; a directory that does not exist is empty. Never throws for a file's fault. */
export async function loadDefinitions(
  directories: readonly DefinitionDirectory[],
): Promise<LoadedDefinitions> {
  const items: AgentDefinition[] = [];
  const diagnostics: (FileDiagnostic & { file: string })[] = [];
  for (const { dir, source } of directories) {
    for (const name of await markdownFiles(dir)) {
      const file = path.join(dir, name);
      const text = await readSmallFile(file);
      if (typeof text !== "string") {
        diagnostics.push({ level: "error", line: 1, message: text.problem, file });
        continue;
      }
      const parsed = parseDefinition(text, file, source);
      if (parsed.definition !== undefined) items.push(parsed.definition);
      diagnostics.push(...parsed.diagnostics.map((one) => ({ ...one, file })));
    }
  }
  return { items, diagnostics };
}

async function markdownFiles(dir: string): Promise<string[]> {
  try {
    return (await fsp.readdir(dir)).filter((name) => name.endsWith(".md") && !name.startsWith(".")).sort();
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
}

async function readSmallFile(file: string): Promise<string | { readonly problem: string }> {
  try {
    const stats = await fsp.stat(file);
    if (!stats.isFile()) return { problem: "is not a regular file" };
    if (stats.size > maxBytes) return { problem: `is larger than ${maxBytes} bytes` };
    return await fsp.readFile(file, "utf8");
  } catch (error) {
    return { problem: `cannot be read: ${messageOf(error)}` };
  }
}
