import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { replaceFile } from "../../../src/agent/tools/replace-file.js";
import { createWorkspace, type Workspace } from "./workspace.js";

let space: Workspace;
beforeEach(() => {
  space = createWorkspace();
});
afterEach(() => space.remove());

const text = (content: string) => Buffer.from(content);

describe("replaceFile", () => {
  it("does not overwrite a file that appeared meanwhile", async () => {
    const file = space.write("a", "theirs");
    await expect(replaceFile(file, text("mine"), undefined, space.context)).rejects.toThrow(
      "created meanwhile",
    );
    expect(space.read("a")).toBe("theirs");
    expect(fs.readdirSync(space.cwd)).toEqual(["a"]);
  });

  it("does not replace a file that changed after it was looked at", async () => {
    const file = space.write("a", "old");
    const before = fs.statSync(file);
    fs.writeFileSync(file, "theirs");
    await expect(replaceFile(file, text("mine"), before, space.context)).rejects.toThrow("has changed");
    expect(space.read("a")).toBe("theirs");
    expect(fs.readdirSync(space.cwd)).toEqual(["a"]);
  });

  it("does not follow a directory that became a link out of the working directory", async () => {
    fs.symlinkSync(space.outside, space.at("dir"));
    await expect(
      replaceFile(path.join(space.at("dir"), "a"), text("x"), undefined, space.context),
    ).rejects.toThrow("outside");
    expect(fs.readdirSync(space.outside)).toEqual([]);
  });

  it("never shows a part of the content", async () => {
    const file = space.write("a", "a".repeat(200_000));
    const seen = new Set<string>();
    let done = false;
    const watching = (async () => {
      while (!done) {
        seen.add(fs.readFileSync(file, "utf8").replace(/(.)\1*/g, (run, first) => `${first}${run.length};`));
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    for (const letter of "bcdef")
      await replaceFile(file, text(letter.repeat(200_000)), fs.statSync(file), space.context);
    done = true;
    await watching;
    for (const content of seen) expect(content).toMatch(/^[a-f]200000;$/);
  });
});
