import fs from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { startRequestSchema } from "../../src/team/start.js";
import { planStart, type StartOptions } from "../../src/team/start-request.js";
import { temporaryDirectory } from "../helpers/temp.js";

let dir: string;

beforeEach(() => {
  dir = temporaryDirectory();
  fs.mkdirSync(path.join(dir, "repo/.git"), { recursive: true });
  fs.mkdirSync(path.join(dir, "repo/src"));
});

function plan(options: Partial<StartOptions>) {
  return planStart({
    command: "run",
    what: "say hello",
    backend: undefined,
    model: undefined,
    modelScript: undefined,
    cwd: path.join(dir, "repo/src"),
    env: { TROUPE_HOME: path.join(dir, "home"), PATH: process.env["PATH"] },
    stdinIsTerminal: false,
    stderrIsTerminal: false,
    troupe: ["node", "troupe.cjs"],
    ...options,
  });
}

function write(name: string, text: string): void {
  fs.writeFileSync(path.join(dir, "repo/src", name), text);
}

const file = "name: demo\nmodel: haiku\nmodelScript: s.yaml\nbackend: in-process\nlead: { agent: Explore }\n";

describe("planStart", () => {
  it("makes a task into a team with one agent that leads", async () => {
    const { request } = await plan({});
    expect(request).toMatchObject({
      file: { lead: { agent: "general-purpose", prompt: "say hello" }, teammates: [] },
      home: path.join(dir, "home"),
      projectRoot: path.join(dir, "repo"),
      backend: { type: "in-process" },
      troupe: ["node", "troupe.cjs"],
    });
    expect(request.file.name).toMatch(/^task-[0-9a-f]{4}$/);
    expect(startRequestSchema.parse(JSON.parse(JSON.stringify(request)))).toEqual(request);
    expect(fs.readdirSync(dir)).toEqual(["repo"]);
  });

  it("gives every task a team of its own", async () => {
    const names = await Promise.all([1, 2, 3].map(async () => (await plan({})).request.file.name));
    expect(new Set(names).size).toBeGreaterThan(1);
  });

  it("reads a team file, its model's script beside it", async () => {
    write("team.yaml", file);
    const { request } = await plan({ what: "team.yaml" });
    expect(request).toMatchObject({
      file: { name: "demo" },
      model: "haiku",
      modelScript: path.join(dir, "repo/src/s.yaml"),
      backend: { type: "in-process" },
    });
  });

  it("takes a file of any name", async () => {
    write("team", file);
    expect((await plan({ what: "./team" })).request.file.name).toBe("demo");
    expect((await plan({ what: path.join(dir, "repo/src/team"), cwd: dir })).request.file.name).toBe("demo");
  });

  it("prefers what the command line says; its script is relative to the directory", async () => {
    write("team.yaml", file);
    const { request } = await plan({
      command: "up",
      what: "src/team.yaml",
      cwd: path.join(dir, "repo"),
      model: "offline",
      modelScript: "mine.yaml",
    });
    expect(request).toMatchObject({ model: "offline", modelScript: path.join(dir, "repo/mine.yaml") });
  });

  it("refuses a team file that is not there, or wrong", async () => {
    await expect(plan({ what: "team.yml" })).rejects.toMatchObject({ code: "bad-team-file", kind: "usage" });
    await expect(plan({ command: "up", what: "say hello" })).rejects.toMatchObject({
      code: "no-team-file",
      kind: "usage",
    });
    write("team.yaml", "nam: x");
    await expect(plan({ what: "team.yaml" })).rejects.toThrow(/^team\.yaml:1:1: unknown field nam/);
  });

  it("takes a task for a task, even if it ends in a file name or is the name of a directory", async () => {
    for (const what of ["explain ci.yml", "src", "x".repeat(5000), "a\0b"]) {
      const { request } = await plan({ what, cwd: path.join(dir, "repo") });
      expect(request.file.lead?.prompt).toBe(what);
    }
  });

  it("fails where the backend that was asked for cannot be used", async () => {
    const env = { TROUPE_HOME: path.join(dir, "home"), PATH: path.join(dir, "nothing") };
    await expect(plan({ backend: "tmux", env })).rejects.toMatchObject({ kind: "unavailable" });
  });
});
