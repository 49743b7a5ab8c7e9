import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createReadTool } from "../../../src/agent/tools/read.js";
import { createWriteTool } from "../../../src/agent/tools/write.js";
import { createWorkspace, use, type Workspace } from "./workspace.js";

let space: Workspace;
beforeEach(() => {
  space = createWorkspace();
});
afterEach(() => space.remove());

const write = (input: object) => use(createWriteTool(), input, space.context);
const read = (file_path: string) => use(createReadTool(), { file_path }, space.context);

describe("Write", () => {
  it("creates a file with its directories", async () => {
    expect(await write({ file_path: "a/b/c.txt", content: "one\ntwo\n" })).toEqual({
      content: "Created a/b/c.txt (2 lines).",
    });
    expect(space.read("a/b/c.txt")).toBe("one\ntwo\n");
    expect(fs.readdirSync(space.at("a/b"))).toEqual(["c.txt"]);
  });

  it("does not overwrite what was not read", async () => {
    space.write("a", "old");
    const result = await write({ file_path: "a", content: "new" });
    expect(result).toEqual({
      content: "a has not been read yet. Read it before overwriting it.",
      isError: true,
    });
    expect(space.read("a")).toBe("old");
  });

  it("does not overwrite what changed since it was read", async () => {
    const file = space.write("a", "old");
    await read("a");
    fs.writeFileSync(file, "theirs");
    const result = await write({ file_path: "a", content: "new" });
    expect(result.content).toContain("a has changed since it was read");
    expect(space.read("a")).toBe("theirs");
  });

  it("replaces what was read, keeps its mode, and knows the new state", async () => {
    const file = space.write("a", "old");
    fs.chmodSync(file, 0o751);
    await read("a");
    expect((await write({ file_path: "a", content: "new" })).content).toBe("Replaced a (1 line).");
    expect((await write({ file_path: "a", content: "newer" })).isError).toBeUndefined();
    expect(space.read("a")).toBe("newer");
    expect(fs.statSync(file).mode & 0o7777).toBe(0o751);
  });

  it("writes through a link that stays inside, and keeps the link", async () => {
    space.write("real", "old");
    fs.symlinkSync("real", space.at("link"));
    await read("link");
    await write({ file_path: "link", content: "new" });
    expect(space.read("real")).toBe("new");
    expect(fs.lstatSync(space.at("link")).isSymbolicLink()).toBe(true);
  });

  it("does not leave the working directory, through links and dangling links too", async () => {
    fs.symlinkSync(space.outside, space.at("dir"));
    fs.symlinkSync("../outside/new", space.at("dangling"));
    for (const file_path of [
      "../outside/new",
      "dir/new",
      "dir/deep/new",
      "dangling",
      "/troupe-must-not-exist",
    ]) {
      const result = await write({ file_path, content: "x" });
      expect(result.content, file_path).toContain("outside of the directories");
    }
    expect(fs.readdirSync(space.outside)).toEqual([]);
  });

  it("may not write to the output directory", async () => {
    const file_path = path.join(space.context.outputDir, "x");
    expect((await write({ file_path, content: "x" })).isError).toBe(true);
  });

  it("refuses directories and pipes", async () => {
    fs.mkdirSync(space.at("dir"));
    execFileSync("mkfifo", [space.at("pipe")]);
    expect((await write({ file_path: "dir", content: "x" })).content).toContain("not a regular file");
    expect((await write({ file_path: "pipe", content: "x" })).content).toContain("not a regular file");
  });

  it("leaves nothing behind where it cannot write", async () => {
    space.write("file", "");
    expect((await write({ file_path: "file/x", content: "x" })).isError).toBe(true);
    expect(fs.readdirSync(space.cwd)).toEqual(["file"]);
  });
});
