import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createFileState } from "../../../src/agent/file-state.js";
import type { Tool, ToolContext, ToolResult } from "../../../src/agent/tool.js";

/** A working directory of its own with a directory beside it that must not be reached; remove it after use. */
export function createWorkspace() {
  const base = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "troupe-tools-")));
  const cwd = path.join(base, "work");
  const outside = path.join(base, "outside");
  const outputDir = path.join(base, "out");
  for (const dir of [cwd, outside, outputDir]) fs.mkdirSync(dir);
  const controller = new AbortController();
  const context: ToolContext = {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", HOME: base, LC_ALL: "C.UTF-8" },
    addedDirs: [],
    outputDir,
    files: createFileState(),
    toolUseId: "toolu_test",
    signal: controller.signal,
  };
  const at = (file: string) => path.join(cwd, file);
  return {
    base,
    cwd,
    outside,
    context,
    at,
    abort: (reason: unknown) => controller.abort(reason),
    /** Writes a file in the working directory, with its directories. */
    write(file: string, content: string | Uint8Array): string {
      fs.mkdirSync(path.dirname(at(file)), { recursive: true });
      fs.writeFileSync(at(file), content);
      return at(file);
    },
    read: (file: string) => fs.readFileSync(at(file), "utf8"),
    remove: () => fs.rmSync(base, { recursive: true, force: true }),
  };
}

export type Workspace = ReturnType<typeof createWorkspace>;

/** Checks the input as the engine does and runs the tool; a thrown error becomes an error result. */
export async function use<Input>(
  tool: Tool<Input>,
  input: unknown,
  context: ToolContext,
): Promise<ToolResult> {
  const parsed = tool.schema.parse(input);
  try {
    return await tool.run(parsed, context);
  } catch (error) {
    return { content: error instanceof Error ? error.message : String(error), isError: true };
  }
}
