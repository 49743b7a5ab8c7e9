import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createGrepTool } from "../../../src/agent/tools/grep.js";
import { createWorkspace, use, type Workspace } from "./workspace.js";

let space: Workspace;
beforeEach(() => {
  space = createWorkspace();
  space.write("src/a.ts", "one\ntwo\nOne more\n");
  space.write("src/b.js", "one 1\n");
  space.write("c.md", "none\n");
});
afterEach(() => space.remove());

const grep = async (input: object, context = space.context) =>
  (await use(createGrepTool(), input, context)).content;

describe("Grep", () => {
  it("lists files, shows lines or counts them", async () => {
    expect(await grep({ pattern: "\\bone" })).toBe("src/a.ts\nsrc/b.js");
    expect(await grep({ pattern: "\\bone", output_mode: "content" })).toBe(
      "src/a.ts:1:one\nsrc/b.js:1:one 1",
    );
    expect(await grep({ pattern: "o", output_mode: "count" })).toBe("c.md:1\nsrc/a.ts:3\nsrc/b.js:1");
  });

  it("narrows by path, file, glob and type", async () => {
    expect(await grep({ pattern: "one", path: "src" })).toBe("src/a.ts\nsrc/b.js");
    expect(await grep({ pattern: "one", path: "src/b.js", output_mode: "content" })).toBe("src/b.js:1:one 1");
    expect(await grep({ pattern: "one", glob: "*.ts" })).toBe("src/a.ts");
    expect(await grep({ pattern: "one", glob: "!*.ts" })).toBe("c.md\nsrc/b.js");
    expect(await grep({ pattern: "one", type: "js" })).toBe("src/b.js");
  });

  it("knows case, context and line numbers", async () => {
    expect(await grep({ pattern: "ONE", "-i": true, path: "src" })).toBe("src/a.ts\nsrc/b.js");
    const content = { output_mode: "content", path: "src/a.ts" };
    expect(await grep({ pattern: "two", ...content, "-C": 1 })).toBe(
      "src/a.ts-1-one\nsrc/a.ts:2:two\nsrc/a.ts-3-One more",
    );
    expect(await grep({ pattern: "two", ...content, "-B": 1, "-n": false })).toBe(
      "src/a.ts-one\nsrc/a.ts:two",
    );
    expect(await grep({ pattern: "two", ...content, "-A": 1 })).toBe("src/a.ts:2:two\nsrc/a.ts-3-One more");
  });

  it("spans lines where told", async () => {
    const input = { pattern: "one.two", output_mode: "content" };
    expect(await grep(input)).toBe("No match for one.two.");
    expect(await grep({ ...input, multiline: true })).toBe("src/a.ts:1:one\nsrc/a.ts:2:two");
  });

  it("takes a pattern that looks like an option, and lines that look like its output", async () => {
    space.write("d", "--pre=evil\n12:x\n");
    expect(await grep({ pattern: "--pre=evil", output_mode: "content" })).toBe("d:1:--pre=evil");
    expect(await grep({ pattern: "12:x", output_mode: "content", "-n": false })).toBe("d:12:x");
  });

  it("bounds lines, files and the length of a line", async () => {
    space.write("long", `match ${"x".repeat(10_000)}\n`);
    expect((await grep({ pattern: "match", output_mode: "content" })).length).toBeLessThan(700);
    space.write("many", "hit\n".repeat(500));
    const lines = (await grep({ pattern: "hit", output_mode: "content" })).split("\n");
    expect(lines).toHaveLength(201);
    expect(lines.at(-1)).toBe("(Showing 200 lines, 300 more; narrow the search or raise head_limit.)");
    expect((await grep({ pattern: "o", head_limit: 1 })).split("\n")).toEqual([
      "c.md",
      "(Showing 1 file, 2 more; narrow the search or raise head_limit.)",
    ]);
  });

  it("shows a part of huge output and says so", async () => {
    space.write("huge", "hit hit hit hit hit hit hit hit hit\n".repeat(600_000));
    const content = await grep({ pattern: "hit", output_mode: "content" });
    expect(content).toContain("(Showing 200 lines, many more;");
  });

  it("says what is wrong with a pattern or type, as an error", async () => {
    const broken = await use(createGrepTool(), { pattern: "a(" }, space.context);
    expect(broken.isError).toBe(true);
    expect(broken.content).toContain("unclosed group");
    expect(await grep({ pattern: "a", type: "nonsense" })).toContain("nonsense");
  });

  it("respects ignore files, leaves git's own out and skips pipes", async () => {
    space.write(".gitignore", "ignored\n");
    space.write("ignored", "find me\n");
    space.write(".git/config", "find me\n");
    space.write(".hidden", "find me\n");
    execFileSync("mkfifo", [space.at("pipe")]);
    expect(await grep({ pattern: "find me" })).toBe(".hidden");
    expect(await grep({ pattern: "x", path: "pipe" })).toContain("neither a directory nor a regular file");
  });

  it("stays inside the working directories and out of denied ones", async () => {
    fs.writeFileSync(path.join(space.outside, "s"), "secret\n");
    fs.symlinkSync(space.outside, space.at("link"));
    space.write("home/key", "secret\n");
    expect(await grep({ pattern: "secret" })).toBe("home/key");
    expect(await grep({ pattern: "secret", path: "link" })).toContain("outside of the directories");
    expect(await grep({ pattern: "secret", path: space.outside })).toContain("outside of the directories");
    const wider = { ...space.context, addedDirs: [space.outside], deniedDirs: [space.at("home")] };
    expect(await grep({ pattern: "secret" }, wider)).toBe("No match for secret.");
    expect(await grep({ pattern: "secret", glob: "**/key" }, wider)).toBe("No match for secret.");
    expect(await grep({ pattern: "secret", path: "home" }, wider)).toContain("outside of the directories");
    expect(await grep({ pattern: "secret", path: space.outside }, wider)).toBe(path.join(space.outside, "s"));
  });
});
