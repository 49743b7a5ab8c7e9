import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatRule, parseRule } from "../../../src/agent/permissions/rule.js";

describe("parseRule", () => {
  it("reads tools and patterns, older names too", () => {
    expect(parseRule("Bash(git log:*)")).toEqual({ tool: "Bash", pattern: "git log:*" });
    expect(parseRule(" Edit ( src/** ) ")).toEqual({ tool: "Edit", pattern: "src/**" });
    expect(parseRule("Grep")).toEqual({ tool: "Grep" });
    expect(parseRule("Bash(*)")).toEqual({ tool: "Bash" });
    expect(parseRule("run_shell(npm test)")).toEqual({ tool: "Bash", pattern: "npm test" });
    expect(parseRule("Task(Explore)")).toEqual({ tool: "Agent", pattern: "Explore" });
    expect(parseRule("Bash(echo (a) b)")).toEqual({ tool: "Bash", pattern: "echo (a) b" });
    expect(parseRule("mcp__files__*")).toEqual({ tool: "mcp__files" });
    expect(parseRule("mcp__files__read")).toEqual({ tool: "mcp__files__read" });
  });

  it.each([
    "",
    "()",
    "Bash()",
    "Bash( )",
    "Bash(git",
    "Bash git",
    "*",
    "Ba*",
    "mcp__*",
    "mcp__a__*(x)",
    "1x",
    "Bash)x(",
  ])("refuses %j and says what it was", (text) => {
    expect(() => parseRule(text)).toThrow(`the permission rule ${JSON.stringify(text)} is not valid`);
  });

  it("is undone by formatRule", () => {
    const tool = fc.stringMatching(/^[A-Z][A-Za-z]{2,8}$/).filter((name) => parseRule(name).tool === name);
    const pattern = fc
      .string({ minLength: 1 })
      .filter((text) => text.trim() === text && text !== "*" && text !== "");
    fc.assert(
      fc.property(tool, fc.option(pattern, { nil: undefined }), (name, given) => {
        const rule = given === undefined ? { tool: name } : { tool: name, pattern: given };
        expect(parseRule(formatRule(rule))).toEqual(rule);
      }),
    );
  });

  it("gives a rule or a usage error for every text", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          expect(parseRule(text).tool).not.toBe("");
        } catch (error) {
          expect(error).toMatchObject({ code: "rule-invalid", kind: "usage" });
        }
      }),
    );
  });
});
