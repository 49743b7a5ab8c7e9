import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { paneTitled } from "../helpers/panes.js";
import { makePlace } from "../helpers/place.js";
import { makeRepository } from "../helpers/repository.js";
import { openTerminal } from "../helpers/terminal.js";

const survey = path.resolve(import.meta.dirname, "../../examples/survey.yaml");
const sample = {
  "src/app.ts":
    "// TODO: name it better\nexport function start(): void {}\nexport function stop(): void {}\n",
  "README.md": "# Sample\n",
};

describe("the survey in tmux", () => {
  test("without a terminal: a session of its own, and the same report", async () => {
    const place = await makePlace();
    makeRepository(place.project, sample);
    const { code, stdout, stderr } = await place.troupe(
      ["run", survey, "--model", "offline", "--backend", "tmux"],
      { timeoutMs: 100_000 },
    );
    expect(stderr).toMatch(/team survey runs tmux: asked for/);
    expect(code).toBe(0);
    expect(stdout).toContain("- definitions: 2 in 1 files");
    expect(stdout).toContain("- most definitions: src/app.ts (2)");
    expect(stdout).toContain("- commits: 1");
  });

  test("in a terminal outside tmux: it shows the session, and the report stays when that has gone", async () => {
    const place = await makePlace();
    makeRepository(place.project, sample);
    const terminal = openTerminal(place, { inTmux: false });
    terminal.type(`troupe run '${survey}' --model offline --backend auto`);
    // The status line of the team's own session.
    await terminal.pane.shows(/scout[\s\S]*mapper/, 60_000);
    expect(await terminal.exitCode()).toBe(0);
    expect(terminal.pane.text()).toContain("- most definitions: src/app.ts (2)");
    expect(terminal.pane.text()).toContain("- commits: 1");
  });

  test("inside a person's tmux: each teammate in a pane of its own beside theirs, which is as before afterwards", async () => {
    const place = await makePlace();
    makeRepository(place.project, sample);
    const terminal = openTerminal(place, { inTmux: true });
    const before = terminal.run("list-panes", "-a", "-F", "#{pane_id}");
    // Slow enough to be watched.
    place.write("survey.model.yaml", slowed());
    place.write("survey.yaml", examples("survey.yaml"));
    terminal.type("troupe run survey.yaml --model offline --backend auto");
    const scout = await paneTitled(terminal.run, "scout");
    await scout.shows(/scout .*Explore.*offline \(scripted\)/);
    await scout.shows(/Glob/);
    await scout.shows(/which file holds most definitions/, 60_000);
    expect(await terminal.exitCode()).toBe(0);
    expect(terminal.pane.text()).toContain("- most definitions: src/app.ts (2)");
    expect(terminal.run("list-panes", "-a", "-F", "#{pane_id}")).toBe(before);
  });
});

function examples(name: string): string {
  return fs.readFileSync(path.join(path.dirname(survey), name), "utf8");
}

function slowed(): string {
  return examples("survey.model.yaml").replace("delayMs: 15", "delayMs: 150");
}
