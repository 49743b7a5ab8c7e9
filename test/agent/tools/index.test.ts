import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createFileState } from "../../../src/agent/file-state.js";
import { builtinTools, canonicalToolName } from "../../../src/agent/tools/index.js";

describe("builtinTools", () => {
  it("has each tool once, with a schema that can be told to a model", () => {
    const tools = builtinTools();
    expect(tools.map(({ name }) => name)).toEqual(["Read", "Write", "Edit", "Glob", "Grep", "Bash"]);
    for (const { schema, name } of tools)
      expect(z.toJSONSchema(schema), name).toMatchObject({ type: "object", additionalProperties: false });
  });

  it("knows which tools read and which edit", () => {
    const readers = builtinTools().filter((tool) => tool.isReadOnly({ command: "rm x" }));
    expect(readers.map(({ name }) => name)).toEqual(["Read", "Glob", "Grep"]);
    const editors = builtinTools().filter(({ editsFiles }) => editsFiles);
    expect(editors.map(({ name }) => name)).toEqual(["Write", "Edit"]);
  });
});

describe("canonicalToolName", () => {
  it("reads older names, and leaves others alone", () => {
    expect(
      ["Task", "agent", "read_file", "FileEdit", "FileWrite", "run_shell"].map(canonicalToolName),
    ).toEqual(["Agent", "Agent", "Read", "Edit", "Write", "Bash"]);
    expect(["Read", "mcp__x__y", "constructor", "__proto__"].map(canonicalToolName)).toEqual([
      "Read",
      "mcp__x__y",
      "constructor",
      "__proto__",
    ]);
  });
});

describe("createFileState", () => {
  it("forgets the least recently used file beyond its bound", () => {
    const state = createFileState(2);
    state.set("/a", { mtimeMs: 1, size: 1 });
    state.set("/b", { mtimeMs: 2, size: 2 });
    expect(state.get("/a")).toEqual({ mtimeMs: 1, size: 1 });
    state.set("/c", { mtimeMs: 3, size: 3 });
    expect([state.get("/a"), state.get("/b"), state.get("/c")].map(Boolean)).toEqual([true, false, true]);
  });
});
