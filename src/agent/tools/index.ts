import type { Tool } from "../tool.js";
import { createBashTool } from "./bash.js";
import { createEditTool } from "./edit.js";
import { createGlobTool } from "./glob.js";
import { createGrepTool } from "./grep.js";
import { createReadTool } from "./read.js";
import { createWriteTool } from "./write.js";

export { canonicalToolName } from "./aliases.js";

/** The engine's own tools, before any filter. */
export function builtinTools(): readonly Tool[] {
  return [
    createReadTool(),
    createWriteTool(),
    createEditTool(),
    createGlobTool(),
    createGrepTool(),
    createBashTool(),
  ];
}
