import path from "node:path";
import { describe, expect, test } from "vitest";
import { makePlace } from "../helpers/place.js";
import { makeRepository } from "../helpers/repository.js";

const survey = path.resolve(import.meta.dirname, "../../examples/survey.yaml");

const sample = {
  "src/app.ts":
    "// TODO: name it better\nexport function start(): void {}\nexport function stop(): void {}\n",
  "src/tool.py": "def tool():\n    pass\n",
  "test/app.test.ts": 'import "../src/app.js";\n',
  "README.md": "# Sample\n\n## Use\n",
  "package.json": "{}\n",
};

describe("the survey in one process", () => {
  test("reports what is really there", async () => {
    const place = await makePlace();
    const git = makeRepository(place.project, sample);
    const { code, stdout, stderr } = await place.troupe(["run", survey, "--model", "offline"]);
    expect(stderr).not.toMatch(/failed|[▲!] /);
    expect(code).toBe(0);

    const sources = git("ls-files", "*.ts", "*.py").split("\n");
    const definitions = git("grep", "-hE", "^(export )?(function|def) ").split("\n");
    expect(stdout).toContain(`- source files: ${sources.length}`);
    expect(stdout).toContain(`- definitions: ${definitions.length} in 2 files`);
    expect(stdout).toContain("- most definitions: src/app.ts (2)");
    expect(stdout).toMatch(/open ends .*: 1\n/);
    expect(stdout).toContain("src/app.ts:1:// TODO: name it better");
    expect(stdout).toContain("- README: README.md");
    expect(stdout).toContain("- its first line: Sample");
    expect(stdout).toContain(`- commits: ${git("rev-list", "--count", "HEAD")}`);
    expect(stdout).toContain(`- files: ${git("ls-files").split("\n").length}`);
    expect(stdout).toContain(`- last commit: ${git("log", "-1", "--format=%as %s")}`);
    expect(stdout).toContain("A scripted model wrote these sentences");
  });

  test("tells on stderr where it runs and why, who joined, and what they do", async () => {
    const place = await makePlace();
    makeRepository(place.project, sample);
    const { stderr } = await place.troupe(["run", survey, "--model", "offline"]);
    expect(stderr).toMatch(/team survey runs in-process: run works in one process/);
    expect(stderr).toMatch(/scout +joined: Explore .*offline \(scripted\)/);
    expect(stderr).toMatch(/stats +joined: figures=/);
    expect(stderr).toMatch(/scout +.*Glob/);
    expect(stderr).toMatch(/mapper .*lead: documents, configuration and tests/);
    expect(stderr).toMatch(/lead .*scout: which file holds most definitions/);
    expect(stderr).toMatch(/the team has ended: the work is done/);
    for (const line of stderr.trimEnd().split("\n")) expect(line).toMatch(/^\d\d:\d\d:\d\d \S+ /);
  });

  test("says so where there is no README and no source file", async () => {
    const place = await makePlace();
    makeRepository(place.project, { "data.csv": "a,b\n" });
    const { code, stdout, stderr } = await place.troupe(["run", survey, "--model", "offline"]);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain("- source files: 0");
    expect(stdout).toContain("- README: none found");
    expect(stdout).toContain("- most definitions: none found");
    expect(stdout).toContain("- commits: 1");
  });
});
