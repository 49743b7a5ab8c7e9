import * as z from "zod";
import type { Tool } from "../tool.js";
import { checkFresh, replaceFile } from "./replace-file.js";
import { replaceText } from "./replace-text.js";
import { absolutePath, openForReading, resolvePath } from "./resolve-path.js";
import { count } from "./result-text.js";
import { encodeText, readTextFile } from "./text-file.js";

const description = `Replaces text in a file that was read with Read and has not changed since.
- old_string must be exactly what the file has, white space included, without the line numbers that Read shows.
- It must occur once: add lines around it until it does, or set replace_all to replace every occurrence.
- Line ends, byte order mark and mode of the file are kept.`;

const schema = z.strictObject({
  file_path: z.string().describe("The file to change"),
  old_string: z.string().describe("The text to replace"),
  new_string: z.string().describe("The text to put in its place"),
  replace_all: z.boolean().optional().describe("Replace every occurrence; default false"),
});

const maxBytes = 16 * 1024 * 1024;

export function createEditTool(): Tool<z.infer<typeof schema>> {
  return {
    name: "Edit",
    description,
    schema,
    isReadOnly: () => false,
    editsFiles: true,
    subjectKind: "path",
    summarise: (input) => input.file_path,
    permissionSubjects: (input, { cwd }) => [absolutePath(input.file_path, cwd)],
    async run({ file_path, old_string, new_string, replace_all = false }, context) {
      const target = await resolvePath(file_path, "write", context);
      const handle = await openForReading(target, file_path, context);
      const { text, hasBom, stats } = await (async () => {
        try {
          checkFresh(context.files, target, file_path, await handle.stat(), "editing");
          return await readTextFile(handle, file_path, maxBytes);
        } finally {
          await handle.close();
        }
      })();
      const replaced = replaceText(text, old_string, new_string, replace_all);
      if (!replaced.ok) return { content: `${file_path}: ${replaced.reason}`, isError: true };
      context.signal.throwIfAborted();
      const state = await replaceFile(target, encodeText(replaced.text, hasBom), stats, context);
      context.files.set(target, state);
      return {
        content: `Changed ${file_path} (${count(replaced.lines.length, "replacement")}). It now reads:\n${excerpt(replaced.text, replaced.lines[0] ?? 1, new_string)}`,
      };
    },
  };
}

/** The changed lines at the first replacement and three around them, numbered as Read does; at most 40. */
function excerpt(text: string, line: number, inserted: string): string {
  const first = Math.max(1, line - 3);
  const last = Math.min(line + inserted.split("\n").length + 2, first + 39);
  return text
    .split("\n")
    .slice(first - 1, last)
    .map(
      (content, index) => `${String(first + index).padStart(6)}\t${content.replace(/\r$/, "").slice(0, 500)}`,
    )
    .join("\n");
}
