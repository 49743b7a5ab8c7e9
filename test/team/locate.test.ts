import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ensureHome, isRunning, locateTeam, teamsNamed } from "../../src/team/locate.js";
import { tryLock } from "../../src/util/lock.js";
import { type MadeHome, makeHome, makeTeam } from "../cli/made-team.js";

let made: MadeHome;

beforeEach(() => {
  made = makeHome();
});

afterEach(() => {
  fs.rmSync(made.root, { recursive: true, force: true });
});

function locate(options: { cwd?: string; team?: string; env?: Record<string, string> } = {}) {
  const { cwd = made.project, team, env = {} } = options;
  return locateTeam({ home: made.home, cwd, env, team }).paths.dirName;
}

describe("locateTeam", () => {
  it("takes the name, or the name of the directory", async () => {
    const { dirName } = await makeTeam(made, { name: "Demo" });
    expect(locate({ team: "demo", cwd: "/" })).toBe(dirName);
    expect(locate({ team: "DEMO", cwd: "/" })).toBe(dirName);
    expect(locate({ team: dirName, cwd: "/" })).toBe(dirName);
    expect(locate({ env: { TROUPE_TEAM: "demo" }, cwd: "/" })).toBe(dirName);
  });

  it("prefers --team to TROUPE_TEAM, and that to the directory", async () => {
    const here = await makeTeam(made, { name: "here" });
    const other = await makeTeam(made, { name: "other", projectRoot: path.join(made.root, "elsewhere") });
    expect(locate()).toBe(here.dirName);
    expect(locate({ env: { TROUPE_TEAM: "other" } })).toBe(other.dirName);
    expect(locate({ team: "here", env: { TROUPE_TEAM: "other" } })).toBe(here.dirName);
  });

  it("finds the team of the deepest project root, through links, and of a worktree", async () => {
    const inner = path.join(made.project, "inner");
    fs.mkdirSync(path.join(inner, "src"), { recursive: true });
    const outer = await makeTeam(made, { name: "outer" });
    const deep = await makeTeam(made, { name: "deep", projectRoot: inner });
    expect(locate({ cwd: made.project })).toBe(outer.dirName);
    expect(locate({ cwd: path.join(inner, "src") })).toBe(deep.dirName);
    fs.symlinkSync(inner, path.join(made.root, "link"));
    expect(locate({ cwd: path.join(made.root, "link/src") })).toBe(deep.dirName);
    fs.mkdirSync(path.join(outer.root, "worktrees/fixer"), { recursive: true });
    expect(locate({ cwd: path.join(outer.root, "worktrees/fixer") })).toBe(outer.dirName);
  });

  it("passes over teams whose records are damaged, and tells of them, unless one is asked for by name", async () => {
    const { dirName } = await makeTeam(made, { name: "good" });
    const damaged = ["{", '{"v":2}', '{"v":1}'].map((text, index) => {
      const root = path.join(made.home, "teams", `bad${index}-abcdef`);
      fs.mkdirSync(root, { recursive: true });
      fs.writeFileSync(path.join(root, "team.json"), text);
      return path.basename(root);
    });
    fs.mkdirSync(path.join(made.home, "teams", "bad3-abcdef", "team.json"), { recursive: true });
    const told: string[] = [];
    const found = locateTeam({
      home: made.home,
      cwd: made.project,
      env: {},
      onDamaged: ({ paths, error }) => told.push(`${paths.dirName} ${error.code}`),
    });
    expect(found.paths.dirName).toBe(dirName);
    const codes = ["bad-record", "newer-record", "bad-record", "bad-record"];
    expect(told).toEqual([...damaged, "bad3-abcdef"].map((name, index) => `${name} ${codes[index]}`));
    expect(locate({ team: "good" })).toBe(dirName);
    expect(() => locate({ team: "bad0" })).toThrow(expect.objectContaining({ code: "bad-record" }));
    expect(() => locate({ team: "goo" })).toThrow(expect.objectContaining({ remedy: "did you mean good?" }));
  });

  it("does not take a directory whose name only begins alike", async () => {
    await makeTeam(made);
    fs.mkdirSync(`${made.project}-2`);
    expect(() => locate({ cwd: `${made.project}-2` })).toThrow(expect.objectContaining({ code: "no-team" }));
  });

  it("lists several that match, unless a single one runs", async () => {
    await makeTeam(made, { name: "one" });
    const two = await makeTeam(made, { name: "two" });
    expect(() => locate()).toThrow(expect.objectContaining({ code: "which-team", kind: "usage" }));
    expect(() => locate()).toThrow(/one-[0-9a-f]{6}.*two-[0-9a-f]{6}/);
    const lock = await tryLock(two.lock);
    expect(isRunning(two)).toBe(true);
    expect(locate()).toBe(two.dirName);
    lock?.release();
    expect(isRunning(two)).toBe(false);
    expect(() => locate()).toThrow(expect.objectContaining({ code: "which-team" }));
  });

  it("takes the one of this project where the name exists in several", async () => {
    const here = await makeTeam(made);
    const there = await makeTeam(made, { projectRoot: path.join(made.root, "there") });
    expect(locate({ team: "demo" })).toBe(here.dirName);
    expect(teamsNamed(made.home, "demo")).toHaveLength(2);
    expect(() => locate({ team: "demo", cwd: "/" })).toThrow(expect.objectContaining({ code: "which-team" }));
    expect(locate({ team: there.dirName, cwd: "/" })).toBe(there.dirName);
  });

  it("names the nearest team, or all", async () => {
    await makeTeam(made, { name: "review" });
    expect(refusal({ team: "reveiw" })).toMatchObject({
      code: "no-team",
      kind: "not-found",
      remedy: "did you mean review?",
    });
    expect(refusal({ team: "something" })).toMatchObject({ remedy: "teams: review" });
    expect(refusal({ cwd: "/" })).toMatchObject({ remedy: expect.stringContaining("--team: review") });
  });

  it("says how to begin where there is no team, and creates nothing", () => {
    fs.rmSync(made.home, { recursive: true });
    expect(refusal()).toMatchObject({ code: "no-team", remedy: expect.stringContaining("troupe up") });
    expect(fs.existsSync(made.home)).toBe(false);
  });

  it("passes over a directory without a record, and over a hostile name", async () => {
    const { dirName } = await makeTeam(made);
    fs.mkdirSync(path.join(made.home, "teams/half-000000"));
    expect(locate()).toBe(dirName);
    for (const team of ["../..", "/etc", "..", "a\0b", "x".repeat(5000)])
      expect(refusal({ team })).toMatchObject({ code: "no-team" });
  });

  it("refuses a TROUPE_HOME that is a file", () => {
    const file = path.join(made.root, "file");
    fs.writeFileSync(file, "");
    expect(() => locateTeam({ home: file, cwd: "/", env: {} })).toThrow(
      expect.objectContaining({ code: "bad-home" }),
    );
    expect(() => ensureHome(file)).toThrow(expect.objectContaining({ code: "bad-home" }));
    expect(() => ensureHome(path.join(file, "below"))).toThrow(/not a directory/);
  });

  it("works from a directory that is gone", async () => {
    await makeTeam(made);
    expect(locate({ team: "demo", cwd: path.join(made.root, "gone") })).toMatch(/^demo-/);
  });
});

function refusal(options: Parameters<typeof locate>[0] = {}): unknown {
  try {
    return locate(options);
  } catch (error) {
    return error;
  }
}
