import * as z from "zod";
import type { Tool } from "../tool.js";
import { type LineWindow, readLineWindow } from "./line-window.js";
import { absolutePath, openForReading, resolvePath } from "./resolve-path.js";
import { displayPath } from "./result-text.js";
import { binary } from "./text-file.js";

const description = `Reads a text file and shows it with line numbers.
- file_path is absolute or relative to the working directory.
- Without offset and limit the first 2000 lines are shown; the result says when there are more. Very long lines are cut.
- The line number and the tab after it are not part of the file.
- Directories and binary files are refused. Read a file before you change it with Edit or Write.`;

const schema = z.strictObject({
  file_path: z.string().describe("The file to read"),
  offset: z.number().int().min(1).optional().describe("First line to show, counted from 1"),
  limit: z.number().int().min(1).optional().describe("How many lines to show; default 2000"),
});

const limits = { lineBytes: 2000, windowBytes: 100_000, countBytes: 64 * 1024 * 1024 };

export function createReadTool(): Tool<z.infer<typeof schema>> {
  return {
    name: "Read",
    description,
    schema,
    isReadOnly: () => true,
    subjectKind: "path",
    summarise: (input) => input.file_path,
    permissionSubjects: (input, { cwd }) => [absolutePath(input.file_path, cwd)],
    async run({ file_path, offset = 1, limit = 2000 }, context) {
      const target = await resolvePath(file_path, "read", context);
      const handle = await openForReading(target, file_path, context);
      try {
        const state = await handle.stat();
        const window = await readLineWindow(handle, offset, limit, limits, context.signal);
        if (window === undefined) throw binary(displayPath(target, context.cwd));
        context.files.set(target, state);
        return { content: render(window, offset) };
      } finally {
        await handle.close();
      }
    },
  };
}

function render({ lines, total, size }: LineWindow, offset: number): string {
  if (size === 0) return "(The file is empty.)";
  const last = offset + lines.length - 1;
  if (lines.length === 0) return `(The file has only ${total} lines; there is no line ${offset}.)`;
  const numbered = lines.map((line, index) => `${String(offset + index).padStart(6)}\t${line}`).join("\n");
  if (total !== undefined && last >= total) return numbered;
  return `${numbered}\n\n(Lines ${offset} to ${last} of ${total ?? "many more"}; go on with offset ${last + 1}.)`;
}
