import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isCommand, mentionsCommand } from "../../../src/agent/permissions/match-command.js";

const is = (pattern: string, command: string) => isCommand(pattern, command.split(" "));

describe("isCommand", () => {
  it("matches whole words from the first on", () => {
    expect(is("git log:*", "git log")).toBe(true);
    expect(is("git log:*", "git log --oneline")).toBe(true);
    expect(is("git log *", "git log -5")).toBe(true);
    expect(is("git log:*", "git logx")).toBe(false);
    expect(is("git log:*", "git push")).toBe(false);
    expect(is("git log:*", "xgit log")).toBe(false);
    expect(is("git log:*", "git")).toBe(false);
    expect(is("git log", "git log")).toBe(true);
    expect(is("git log", "git log -5")).toBe(false);
    expect(is("npm run test*", "npm run test-unit")).toBe(true);
    expect(is("npm run test*", "npm run test-unit x")).toBe(false);
    expect(is("*", "anything at all")).toBe(true);
    expect(is("a.c", "abc")).toBe(false);
  });

  it("takes an argument with spaces for one word", () => {
    expect(isCommand("git commit -m x", ["git", "commit", "-m x"])).toBe(false);
  });

  it("matches exactly the commands with the pattern's words in front", () => {
    const word = fc.stringMatching(/^[a-c-]{1,2}$/);
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 3 }),
        fc.array(word, { minLength: 1, maxLength: 4 }),
        (pattern, command) => {
          const front = pattern.every((one, index) => command[index] === one);
          expect(isCommand(`${pattern.join(" ")}:*`, command)).toBe(front);
          expect(isCommand(pattern.join(" "), command)).toBe(front && command.length === pattern.length);
        },
      ),
    );
  });
});

describe("mentionsCommand", () => {
  it.each([
    "rm -rf x",
    "ls; rm x",
    "ls && rm x",
    "ls|rm",
    "(rm x)",
    "$(rm x)",
    "`rm x`",
    "bash -c 'rm x'",
    'bash -c "rm x"',
    "sudo rm x",
    "/bin/rm x",
    "find . -exec rm {} +",
    "r\\m x",
    "r'm' x",
    '"rm" x',
    "A=1 rm x",
    "ls\nrm x",
    "r\\\nm x",
    "xargs rm",
    "{ rm x; }",
    ">f rm x",
  ])("finds rm in %j", (text) => {
    expect(mentionsCommand("rm:*", text)).toBe(true);
  });

  it("finds several words one after another, and no parts of words", () => {
    expect(mentionsCommand("git push:*", "cd x && git push --force")).toBe(true);
    expect(mentionsCommand("git push", "git push --force")).toBe(true);
    expect(mentionsCommand("git push:*", "git log; echo push")).toBe(false);
    expect(mentionsCommand("rm:*", "npm run format rmdir")).toBe(false);
    expect(mentionsCommand(":*", "anything")).toBe(true);
  });

  it("finds a command in whatever surrounds it", () => {
    const edge = fc.constantFrom(";", "&&", "|", "(", "`", "$(", "'", '"', " ", "\n", "{ ", "<", ">");
    fc.assert(
      fc.property(fc.string(), edge, edge, fc.string(), (before, left, right, after) => {
        const text = `${before.replace(/['"\\]/g, "")}${left}rm x${right}${after}`;
        expect(mentionsCommand("rm:*", text)).toBe(true);
      }),
    );
  });
});
