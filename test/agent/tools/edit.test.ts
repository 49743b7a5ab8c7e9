import fs from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createEditTool } from "../../../src/agent/tools/edit.js";
import { createReadTool } from "../../../src/agent/tools/read.js";
import { createWorkspace, use, type Workspace } from "./workspace.js";

let space: Workspace;
beforeEach(() => {
  space = createWorkspace();
});
afterEach(() => space.remove());

const edit = (input: object) => use(createEditTool(), input, space.context);
const read = (file_path: string) => use(createReadTool(), { file_path }, space.context);

describe("Edit", () => {
  it("replaces text once and shows the result", async () => {
    space.write("a", "one\ntwo\nthree\n");
    await read("a");
    const result = await edit({ file_path: "a", old_string: "two", new_string: "2\n2b" });
    expect(space.read("a")).toBe("one\n2\n2b\nthree\n");
    expect(result.content).toBe(
      "Changed a (1 replacement). It now reads:\n     1\tone\n     2\t2\n     3\t2b\n     4\tthree\n     5\t",
    );
  });

  it("needs the file read, and unchanged since", async () => {
    const file = space.write("a", "one");
    const input = { file_path: "a", old_string: "one", new_string: "two" };
    expect((await edit(input)).content).toBe("a has not been read yet. Read it before editing it.");
    await read("a");
    fs.writeFileSync(file, "one!");
    expect((await edit(input)).content).toContain("has changed since it was read");
    expect(space.read("a")).toBe("one!");
    await read("a");
    expect((await edit(input)).isError).toBeUndefined();
    expect((await edit({ file_path: "a", old_string: "two", new_string: "three" })).isError).toBeUndefined();
    expect(space.read("a")).toBe("three!");
  });

  it("notices a change that kept the size", async () => {
    const file = space.write("a", "one");
    await read("a");
    fs.writeFileSync(file, "eno");
    fs.utimesSync(file, new Date(), new Date(Date.now() + 2000));
    expect((await edit({ file_path: "a", old_string: "one", new_string: "x" })).content).toContain(
      "has changed",
    );
  });

  it("keeps line ends, byte order mark and mode", async () => {
    const file = space.write("a", "\uFEFFone\r\ntwo\r\nthree\r\n");
    fs.chmodSync(file, 0o640);
    await read("a");
    await edit({ file_path: "a", old_string: "one\ntwo", new_string: "1\n1b\n2" });
    expect(space.read("a")).toBe("\uFEFF1\r\n1b\r\n2\r\nthree\r\n");
    expect(fs.statSync(file).mode & 0o7777).toBe(0o640);
  });

  it("refuses files that it would damage", async () => {
    space.write("latin", Buffer.from([0x61, 0xe9, 0x62]));
    await read("latin");
    const result = await edit({ file_path: "latin", old_string: "a", new_string: "b" });
    expect(result.content).toContain("not valid UTF-8");
  });

  it("reports what replaceText refuses, as an error, and changes nothing", async () => {
    space.write("a", "x x");
    await read("a");
    const result = await edit({ file_path: "a", old_string: "x", new_string: "y" });
    expect(result.isError).toBe(true);
    expect(result.content).toMatch(/^a: old_string occurs 2 times/);
    expect(space.read("a")).toBe("x x");
    await edit({ file_path: "a", old_string: "x", new_string: "y", replace_all: true });
    expect(space.read("a")).toBe("y y");
  });

  it("says so where there is no such file", async () => {
    expect((await edit({ file_path: "none", old_string: "a", new_string: "b" })).content).toContain(
      "There is no file none",
    );
  });
});
