import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { projectRootOf } from "../../src/team/project-root.js";
import { temporaryDirectory } from "../helpers/temp.js";

it("is the nearest directory with .git, directory or file, else the directory itself", () => {
  const dir = temporaryDirectory();
  const [outer, worktree, bare] = ["repo", "repo/worktrees/fix", "other/deep"].map((name) =>
    path.join(dir, name),
  );
  for (const place of [`${outer}/.git`, `${outer}/src/a`, `${worktree}/src`, bare!])
    fs.mkdirSync(place, { recursive: true });
  fs.writeFileSync(`${worktree}/.git`, "gitdir: elsewhere\n");
  expect(projectRootOf(`${outer}/src/a`)).toBe(outer);
  expect(projectRootOf(outer!)).toBe(outer);
  expect(projectRootOf(`${worktree}/src`)).toBe(worktree);
  expect(projectRootOf(bare!)).toBe(bare);
});

it("follows links, so that one project has one root", () => {
  const dir = temporaryDirectory();
  fs.mkdirSync(path.join(dir, "repo/.git"), { recursive: true });
  fs.mkdirSync(path.join(dir, "repo/src"));
  fs.symlinkSync(path.join(dir, "repo/src"), path.join(dir, "link"));
  expect(projectRootOf(path.join(dir, "link"))).toBe(path.join(dir, "repo"));
});
