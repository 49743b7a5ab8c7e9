import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createReadTool } from "../../../src/agent/tools/read.js";
import { createWorkspace, use, type Workspace } from "./workspace.js";

let space: Workspace;
beforeEach(() => {
  space = createWorkspace();
});
afterEach(() => space.remove());

const read = (input: object) => use(createReadTool(), input, space.context);

describe("Read", () => {
  it("numbers lines and takes relative and absolute paths", async () => {
    const file = space.write("src/a.txt", "one\ntwo\n\nfour\n");
    const expected = "     1\tone\n     2\ttwo\n     3\t\n     4\tfour";
    expect(await read({ file_path: "src/a.txt" })).toEqual({ content: expected });
    expect(await read({ file_path: file })).toEqual({ content: expected });
  });

  it("shows a last line without line end, and CRLF and BOM not at all", async () => {
    space.write("a", "\uFEFFone\r\ntwo");
    expect((await read({ file_path: "a" })).content).toBe("     1\tone\n     2\ttwo");
  });

  it("shows a window and says how to go on", async () => {
    space.write("a", Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`).join(""));
    const { content } = await read({ file_path: "a", offset: 11, limit: 2 });
    expect(content).toBe("    11\tline 11\n    12\tline 12\n\n(Lines 11 to 12 of 30; go on with offset 13.)");
    expect((await read({ file_path: "a", offset: 30 })).content).toBe("    30\tline 30");
    expect((await read({ file_path: "a", offset: 31 })).content).toBe(
      "(The file has only 30 lines; there is no line 31.)",
    );
  });

  it("shows 2000 lines at most without a limit", async () => {
    space.write("a", "x\n".repeat(2001));
    const { content } = await read({ file_path: "a" });
    expect(content).toContain("  2000\tx\n");
    expect(content).toContain("(Lines 1 to 2000 of 2001; go on with offset 2001.)");
    expect(content).not.toContain("  2001\tx");
  });

  it("bounds what it shows of huge files, and keeps to characters", async () => {
    space.write("a", `${"€".repeat(100_000)}\n${`${"y".repeat(1000)}\n`.repeat(500)}`);
    const { content } = await read({ file_path: "a" });
    expect(content.length).toBeLessThan(120_000);
    expect(content).toMatch(/^ {5}1\t€{666}… \[298000 more bytes in this line\]\n/);
    expect(content).toMatch(/\(Lines 1 to \d+ of 501; go on with offset \d+\.\)$/);
    expect(content).not.toContain("\uFFFD");
  });

  it("joins lines that straddle the blocks it reads", async () => {
    const line = "z".repeat(1500);
    space.write("a", `${line}\n`.repeat(100));
    expect((await read({ file_path: "a", offset: 44, limit: 1 })).content).toContain(`    44\t${line}\n`);
  });

  it("says that a file is empty", async () => {
    space.write("a", "");
    expect(await read({ file_path: "a" })).toEqual({ content: "(The file is empty.)" });
  });

  it("refuses what is no text file", async () => {
    space.write("binary", Buffer.from([0x7f, 0x45, 0x00, 0x01]));
    space.write("dir/file", "");
    expect((await read({ file_path: "binary" })).content).toContain("binary is a binary file");
    expect((await read({ file_path: "dir" })).content).toContain("dir is a directory");
    expect((await read({ file_path: "none" })).content).toContain("There is no file none");
    expect((await read({ file_path: "dir/file/x" })).isError).toBe(true);
    expect((await read({ file_path: "a\0b" })).isError).toBe(true);
  });

  it("does not wait for a pipe", async () => {
    execFileSync("mkfifo", [space.at("pipe")]);
    expect((await read({ file_path: "pipe" })).content).toContain("not a regular file");
  });

  it("stays inside the working directories, through links too", async () => {
    fs.writeFileSync(path.join(space.outside, "secret"), "secret");
    fs.symlinkSync(path.join(space.outside, "secret"), space.at("link"));
    fs.symlinkSync(space.outside, space.at("dir"));
    for (const file_path of ["../outside/secret", path.join(space.outside, "secret"), "link", "dir/secret"]) {
      const result = await read({ file_path });
      expect(result.isError, file_path).toBe(true);
      expect(result.content).toContain("outside of the directories");
      expect(result.content).not.toBe("     1\tsecret");
    }
    const wider = { ...space.context, addedDirs: [space.outside] };
    expect((await use(createReadTool(), { file_path: "link" }, wider)).content).toBe("     1\tsecret");
  });

  it("follows links that stay inside", async () => {
    space.write("real", "text");
    fs.symlinkSync("real", space.at("link"));
    expect((await read({ file_path: "link" })).content).toBe("     1\ttext");
  });

  it("reaches the agent's own output, and not what is denied", async () => {
    const denied = path.join(space.base, "home");
    const outputDir = path.join(denied, "out");
    fs.mkdirSync(outputDir, { recursive: true });
    fs.writeFileSync(path.join(outputDir, "log"), "mine");
    fs.writeFileSync(path.join(denied, "key"), "key");
    const context = { ...space.context, cwd: space.base, outputDir, deniedDirs: [denied] };
    expect((await use(createReadTool(), { file_path: "home/out/log" }, context)).content).toBe(
      "     1\tmine",
    );
    expect((await use(createReadTool(), { file_path: "home/key" }, context)).isError).toBe(true);
  });

  it("remembers what it read", async () => {
    const file = space.write("a", "text");
    await read({ file_path: "a" });
    const { mtimeMs, size } = fs.statSync(file);
    expect(space.context.files.get(file)).toEqual({ mtimeMs, size });
  });

  it("stops when aborted", async () => {
    space.write("a", "text");
    space.abort(new Error("stopped"));
    expect(await read({ file_path: "a" })).toEqual({ content: "stopped", isError: true });
  });
});
