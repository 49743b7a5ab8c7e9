import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type AgentDefinition, findDefinition, toolsFor } from "../../../src/agent/definitions/index.js";
import type { Tool } from "../../../src/agent/tool.js";
import { builtinTools } from "../../../src/agent/tools/index.js";

const named = (name: string, readOnly = false): Tool => ({
  name,
  description: "",
  schema: z.unknown(),
  isReadOnly: () => readOnly,
  summarise: () => name,
  run: async () => ({ content: "" }),
});
const all = [
  ...builtinTools(),
  named("Agent"),
  named("mcp__db__query", true),
  named("mcp__db__write"),
  named("mcp__dbx__a"),
];
const general = findDefinition("general-purpose");

const names = (change: Partial<AgentDefinition>) =>
  toolsFor({ ...general, ...change }, all).map(({ name }) => name);

describe("toolsFor", () => {
  it("gives all tools where none are named, and keeps their order", () => {
    expect(names({})).toEqual(all.map(({ name }) => name));
    expect(names({ tools: ["Bash", "Read"] })).toEqual(["Read", "Bash"]);
    expect(names({ tools: ["*"] })).toEqual(all.map(({ name }) => name));
    expect(names({ tools: [] })).toEqual([]);
  });

  it("takes what is disallowed away, by any of its names", () => {
    expect(names({ tools: ["Read", "run_shell", "Edit"], disallowedTools: ["edit_file"] })).toEqual([
      "Read",
      "Bash",
    ]);
    expect(names({ disallowedTools: ["*"] })).toEqual([]);
  });

  it("knows servers as a whole", () => {
    expect(names({ tools: ["mcp__db"] })).toEqual(["mcp__db__query", "mcp__db__write"]);
    expect(names({ tools: ["mcp__db__*"], disallowedTools: ["mcp__db__write"] })).toEqual(["mcp__db__query"]);
  });

  it("passes over tools that are not there", () => {
    expect(names({ tools: ["Read", "NotebookEdit"] })).toEqual(["Read"]);
  });

  it.each(["Explore", "Plan"])("gives %s nothing that changes anything", (type) => {
    const tools = toolsFor(findDefinition(type), all);
    expect(tools.map(({ name }) => name)).toEqual(["Read", "Glob", "Grep", "Bash", "mcp__db__query"]);
    const bash = tools.find(({ name }) => name === "Bash");
    expect(bash?.schema.safeParse({ command: "git log | head" }).success).toBe(true);
    for (const command of ["rm x", "git log --output=f", "ls > f", "find . -delete"]) {
      const checked = bash?.schema.safeParse({ command });
      expect(checked?.error?.issues[0], command).toMatchObject({
        path: ["command"],
        message: expect.stringContaining("only commands that read"),
      });
    }
    expect(bash?.description).toContain("git log");
    expect(z.toJSONSchema(bash?.schema ?? z.never())).toMatchObject({
      properties: { command: { type: "string" } },
    });
  });
});
