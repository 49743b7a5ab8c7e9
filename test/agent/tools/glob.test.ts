import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createGlobTool } from "../../../src/agent/tools/glob.js";
import { createWorkspace, use, type Workspace } from "./workspace.js";

let space: Workspace;
let clock = 1_700_000_000;
beforeEach(() => {
  space = createWorkspace();
});
afterEach(() => space.remove());

/** Later calls make newer files. */
function touch(...files: string[]): void {
  for (const file of files) {
    clock += 10;
    fs.utimesSync(space.write(file, ""), clock, clock);
  }
}

const glob = (input: object) => use(createGlobTool(), input, space.context);
const found = async (input: object) => (await glob(input)).content.split("\n");

describe("Glob", () => {
  it("lists matching files, newest first", async () => {
    touch("a.ts", "src/b.ts", "src/deep/c.ts", "d.js");
    expect(await found({ pattern: "**/*.ts" })).toEqual(["src/deep/c.ts", "src/b.ts", "a.ts"]);
    expect(await found({ pattern: "*.ts" })).toEqual(["a.ts"]);
    expect(await found({ pattern: "./src/*.{ts,js}" })).toEqual(["src/b.ts"]);
    expect(await found({ pattern: "src/**" })).toEqual(["src/deep/c.ts", "src/b.ts"]);
  });

  it("searches in a directory, and takes an absolute pattern inside of it", async () => {
    touch("a.ts", "src/b.ts", "src/deep/c.ts");
    expect(await found({ pattern: "*.ts", path: "src" })).toEqual(["src/b.ts"]);
    expect(await found({ pattern: space.at("src/**/*.ts") })).toEqual(["src/deep/c.ts", "src/b.ts"]);
  });

  it("finds hidden files, and not what is ignored, git's own or a link", async () => {
    touch(".github/a.yml", "node_modules/x/b.yml", "build/c.yml", ".git/d.yml", "e.yml", "keep.yml");
    fs.writeFileSync(space.at(".gitignore"), "node_modules/\nbuild\n/e.yml\n");
    fs.writeFileSync(path.join(space.outside, "f.yml"), "");
    fs.symlinkSync(path.join(space.outside, "f.yml"), space.at("f.yml"));
    expect(await found({ pattern: "**/*.yml" })).toEqual(["keep.yml", ".github/a.yml"]);
    expect(await found({ pattern: "**" })).not.toContain("node_modules/x/b.yml");
    expect(await found({ pattern: "*.yml" })).toEqual(["keep.yml"]);
  });

  it("takes strange names as they are", async () => {
    touch("a\nb.ts", "-x.ts", "[1].ts");
    expect((await glob({ pattern: "*.ts" })).content).toBe("[1].ts\n-x.ts\na\nb.ts");
    expect(await found({ pattern: "-*" })).toEqual(["-x.ts"]);
    expect((await glob({ pattern: "!*.ts" })).content).toBe("No file matches !*.ts.");
  });

  it("shows a hundred files and says how many more there are", async () => {
    touch(...Array.from({ length: 103 }, (_, index) => `f${index}`));
    const lines = await found({ pattern: "f*" });
    expect(lines).toHaveLength(101);
    expect(lines[0]).toBe("f102");
    expect(lines.at(-1)).toBe("(3 more; use a narrower pattern or a path.)");
  });

  it("is exact about what it cannot do", async () => {
    touch("a");
    expect((await glob({ pattern: "*.none" })).content).toBe("No file matches *.none.");
    expect((await glob({ pattern: "../*" })).content).toContain("leads out of");
    expect((await glob({ pattern: "*", path: ".." })).content).toContain("outside of the directories");
    expect((await glob({ pattern: "*", path: "a" })).content).toContain("a is not a directory");
    expect((await glob({ pattern: "*", path: "none" })).content).toContain("no file or directory none");
    const broken = await glob({ pattern: "a[" });
    expect(broken).toMatchObject({ isError: true });
    expect(broken.content).toContain("pattern was not understood");
  });

  it("enters no denied directory", async () => {
    touch("home/keys/secret", "home/open");
    const context = { ...space.context, deniedDirs: [space.at("home/keys")] };
    expect((await use(createGlobTool(), { pattern: "**" }, context)).content).toBe("home/open");
  });

  it("reads no configuration of ripgrep's", async () => {
    touch("a.ts", "b.ts");
    const config = path.join(space.base, "rc");
    fs.writeFileSync(config, "--glob=!b.ts\n");
    const context = { ...space.context, env: { ...space.context.env, RIPGREP_CONFIG_PATH: config } };
    expect((await use(createGlobTool(), { pattern: "*" }, context)).content).toBe("b.ts\na.ts");
  });
});
