import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadDefinitions } from "../../../src/agent/definitions/load.js";
import { createWorkspace, type Workspace } from "../tools/workspace.js";

let space: Workspace;
beforeEach(() => {
  space = createWorkspace();
});
afterEach(() => space.remove());

const load = () =>
  loadDefinitions([
    { dir: space.at("user"), source: "user" },
    { dir: space.at("project"), source: "project" },
  ]);

describe("loadDefinitions", () => {
  it("reads the fields, the body as prompt and the name from the file", async () => {
    space.write(
      "user/reviewer.md",
      "---\ndescription: Reviews.\ntools: Read, Task(worker, Explore), run_shell\n---\nReview it.\n",
    );
    space.write(
      "project/b.md",
      `---
name: builder
description: Builds.
allowed-tools: [Bash, mcp__ci__*]
disallowedTools: "*"
model: opus
effort: high
permissionMode: acceptEdits
maxTurns: 5
maxTokens: 1000
initialPrompt: Begin.
criticalReminder: Careful.
background: true
isolation: worktree
color: red
omitClaudeMd: true
---
Build it.`,
    );
    const { items, diagnostics } = await load();
    expect(diagnostics).toEqual([]);
    expect(items).toEqual([
      {
        name: "reviewer",
        description: "Reviews.",
        prompt: "Review it.",
        tools: ["Read", "Agent", "Bash"],
        agentTypes: ["worker", "Explore"],
        disallowedTools: [],
        readOnly: false,
        model: "inherit",
        background: false,
        omitClaudeMd: false,
        oneShot: false,
        source: "user",
        file: space.at("user/reviewer.md"),
      },
      {
        name: "builder",
        description: "Builds.",
        prompt: "Build it.",
        tools: ["Bash", "mcp__ci__*"],
        disallowedTools: ["*"],
        readOnly: false,
        model: "opus",
        effort: "high",
        permissionMode: "acceptEdits",
        maxTurns: 5,
        maxTokens: 1000,
        initialPrompt: "Begin.",
        criticalReminder: "Careful.",
        background: true,
        isolation: "worktree",
        color: "red",
        omitClaudeMd: true,
        oneShot: false,
        source: "project",
        file: space.at("project/b.md"),
      },
    ]);
  });

  it("reports every wrong field with file and line, and loads the others", async () => {
    space.write(
      "user/bad.md",
      "---\nname: bad\nmaxTurns: 0\npermissionMode: yolo\ntools: [Read, 'B sh']\n---\nx\n",
    );
    space.write("user/good.md", "---\ndescription: Good.\n---\nx\n");
    const { items, diagnostics } = await load();
    expect(items.map(({ name }) => name)).toEqual(["good"]);
    expect(
      diagnostics.every(({ file, level }) => file === space.at("user/bad.md") && level === "error"),
    ).toBe(true);
    expect(diagnostics.map(({ line, message }) => `${line} ${message.split(":")[0]}`).sort()).toEqual([
      "1 description",
      "3 maxTurns",
      "4 permissionMode",
      "5 tools",
    ]);
    expect(diagnostics.find(({ line }) => line === 1)?.message).toBe("description: is missing");
  });

  it("names the field as it was written", async () => {
    space.write("user/a.md", "---\ndescription: A.\nallowed-tools: 5\n---\nx\n");
    expect((await load()).diagnostics).toMatchObject([
      { line: 3, message: expect.stringMatching(/^allowed-tools: /) },
    ]);
  });

  it("warns of fields that do nothing, and loads all the same", async () => {
    space.write("user/a.md", "---\ndescription: A.\nhooks: {}\nnonsense: 1\n---\nx\n");
    const { items, diagnostics } = await load();
    expect(items).toHaveLength(1);
    expect(diagnostics).toMatchObject([
      { level: "warning", line: 3, message: expect.stringContaining("not supported by this version") },
      { level: "warning", line: 4, message: expect.stringContaining("not a field") },
    ]);
  });

  it("refuses remote isolation with the reason, and a file without a prompt", async () => {
    space.write("user/a.md", "---\ndescription: A.\nisolation: remote\n---\nx\n");
    space.write("user/b.md", "---\ndescription: B.\n---\n\n");
    const { items, diagnostics } = await load();
    expect(items).toEqual([]);
    expect(diagnostics.map(({ message }) => message)).toEqual([
      "isolation: only worktree is possible; there are no remote agents",
      "there is no prompt below the frontmatter",
    ]);
  });

  it("waits for no pipe and reads no monster", async () => {
    fs.mkdirSync(space.at("user"));
    execFileSync("mkfifo", [space.at("user/pipe.md")]);
    fs.mkdirSync(space.at("user/dir.md"));
    fs.writeFileSync(space.at("user/big.md"), Buffer.alloc(1024 * 1024 + 1, "x"));
    fs.symlinkSync("none", space.at("user/dangling.md"));
    const { items, diagnostics } = await load();
    expect(items).toEqual([]);
    expect(diagnostics.map(({ file, message }) => `${path.basename(file)} ${message.slice(0, 14)}`)).toEqual([
      "big.md is larger than",
      "dangling.md cannot be read",
      "dir.md is not a regul",
      "pipe.md is not a regul",
    ]);
  });

  it("takes a directory that is not there for empty, and other files for none of its", async () => {
    space.write("user/notes.txt", "x");
    space.write("user/.hidden.md", "x");
    expect(await load()).toEqual({ items: [], diagnostics: [] });
  });
});
