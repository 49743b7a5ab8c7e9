import fsp from "node:fs/promises";
import * as z from "zod";
import { errnoOf, TroupeError } from "../../util/errors.js";
import type { Tool } from "../tool.js";
import { checkFresh, replaceFile } from "./replace-file.js";
import { absolutePath, resolvePath } from "./resolve-path.js";
import { count } from "./result-text.js";

const description = `Writes a whole file, at once: a new one, missing directories included, or in place of an existing one.
- An existing file must have been read with Read, and not changed since; prefer Edit for changing a part of a file.
- file_path is absolute or relative to the working directory.`;

const schema = z.strictObject({
  file_path: z.string().describe("The file to write"),
  content: z.string().describe("The whole content of the file"),
});

export function createWriteTool(): Tool<z.infer<typeof schema>> {
  return {
    name: "Write",
    description,
    schema,
    isReadOnly: () => false,
    editsFiles: true,
    subjectKind: "path",
    summarise: (input) => input.file_path,
    permissionSubjects: (input, { cwd }) => [absolutePath(input.file_path, cwd)],
    async run({ file_path, content }, context) {
      const target = await resolvePath(file_path, "write", context);
      const previous = await existing(target, file_path);
      if (previous !== undefined) checkFresh(context.files, target, file_path, previous, "overwriting");
      context.signal.throwIfAborted();
      context.files.set(target, await replaceFile(target, Buffer.from(content, "utf8"), previous, context));
      const lines = content === "" ? 0 : content.replace(/\n$/, "").split("\n").length;
      return {
        content: `${previous === undefined ? "Created" : "Replaced"} ${file_path} (${count(lines, "line")}).`,
      };
    },
  };
}

async function existing(target: string, given: string) {
  try {
    const stats = await fsp.lstat(target);
    if (stats.isFile()) return stats;
    throw new TroupeError("path-not-regular", `${given} exists and is not a regular file.`);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
