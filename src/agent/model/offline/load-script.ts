import fs from "node:fs";
import { isNode, LineCounter, parseDocument } from "yaml";
import { messageOf, TroupeError } from "../../../util/errors.js";
import { compileScript, type OfflineScript } from "./script.js";

/** Reads a script. Throws TroupeError kind `usage` with file, line and column where it cannot be used. */
export function loadOfflineScript(file: string): OfflineScript {
  let text: string;
  try {
    text = fs.readFileSync(file, "utf8");
  } catch (error) {
    throw unusable(`the script ${file} cannot be read: ${messageOf(error)}`, error);
  }
  return parseOfflineScript(text, file);
}

/** As {@link loadOfflineScript}, for text that has been read already. */
export function parseOfflineScript(text: string, file: string): OfflineScript {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined) throw unusable(`${at(fault.pos[0])}: ${fault.message}`, fault);

  const compiled = compileScript(document.toJS(), file);
  if (compiled.ok) return compiled.script;
  const faults = compiled.issues.map(({ path, message, ...issue }) => {
    const keys = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
    return `${at(offsetOf(document, [...path, ...keys]))}: ${path.join(".") || "script"}: ${message}`;
  });
  throw unusable(faults.join("\n"));
}

/** Where the value at `path` starts, or the nearest one around it. */
function offsetOf(document: ReturnType<typeof parseDocument>, path: readonly PropertyKey[]): number {
  for (let length = path.length; length >= 0; length--) {
    const full = path.slice(0, length);
    // `steps` may have been added to a list of steps.
    for (const keys of [full, full.filter((key, i) => !(key === "steps" && i === 2))]) {
      const node = length === 0 ? document.contents : document.getIn(keys, true);
      if (isNode(node) && node.range != null) return node.range[0];
    }
  }
  return 0;
}

function unusable(message: string, cause?: unknown): TroupeError {
  return new TroupeError("offline-script", message, {
    kind: "usage",
    remedy: "docs/offline-model.md describes what a script looks like",
    cause,
  });
}
