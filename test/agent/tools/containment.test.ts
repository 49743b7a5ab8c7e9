import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isInside, isReachable, realDirs, realTarget } from "../../../src/agent/tools/containment.js";
import { createWorkspace, type Workspace } from "./workspace.js";

let space: Workspace;
beforeEach(() => {
  space = createWorkspace();
});
afterEach(() => space.remove());

const segment = fc.stringMatching(/^[a-c]{1,2}$/);
const segments = fc.array(segment, { maxLength: 5 });
const absolute = (parts: readonly string[]) => `/${parts.join("/")}`;

describe("isInside", () => {
  it("is what a comparison of whole segments says", () => {
    fc.assert(
      fc.property(segments, segments, (inner, outer) => {
        const expected = outer.every((part, index) => inner[index] === part);
        expect(isInside(absolute(inner), absolute(outer))).toBe(expected);
      }),
    );
  });

  it("does not take a common prefix of names for containment", () => {
    expect(isInside("/a/bc", "/a/b")).toBe(false);
    expect(isInside("/a/b/..c", "/a/b")).toBe(true);
    expect(isInside("/a", "/a/b")).toBe(false);
    expect(isInside("/anything", "/")).toBe(true);
  });
});

describe("isReachable", () => {
  it("lets the deepest directory decide", () => {
    expect(isReachable("/home/u/p/f", ["/home/u/p"], ["/home/u/.troupe"])).toBe(true);
    expect(isReachable("/home/u/.troupe/keys", ["/home/u"], ["/home/u/.troupe"])).toBe(false);
    expect(isReachable("/h/.troupe/t/scratch/f", ["/h", "/h/.troupe/t/scratch"], ["/h/.troupe"])).toBe(true);
    expect(isReachable("/elsewhere", ["/h"], [])).toBe(false);
    expect(isReachable("/h", ["/h"], ["/h"])).toBe(false);
  });

  it("never reaches what no allowed directory contains", () => {
    fc.assert(
      fc.property(segments, fc.array(segments), fc.array(segments), (target, allowed, denied) => {
        const path = absolute(target);
        const reachable = isReachable(path, allowed.map(absolute), denied.map(absolute));
        if (reachable) expect(allowed.some((dir) => isInside(path, absolute(dir)))).toBe(true);
      }),
    );
  });
});

describe("realTarget", () => {
  it("follows links in every place, also where the file does not exist yet", async () => {
    const { cwd, outside } = space;
    fs.symlinkSync(outside, path.join(cwd, "link"));
    fs.symlinkSync("../outside/not-yet", path.join(cwd, "dangling"));
    fs.symlinkSync("dangling", path.join(cwd, "twice"));
    expect(await realTarget(path.join(cwd, "link"))).toBe(outside);
    expect(await realTarget(path.join(cwd, "link/new/file"))).toBe(path.join(outside, "new/file"));
    expect(await realTarget(path.join(cwd, "dangling"))).toBe(path.join(outside, "not-yet"));
    expect(await realTarget(path.join(cwd, "twice"))).toBe(path.join(outside, "not-yet"));
    expect(await realTarget(path.join(cwd, "plain/new"))).toBe(path.join(cwd, "plain/new"));
  });

  it("refuses loops and files used as directories", async () => {
    const { cwd } = space;
    fs.symlinkSync("b", path.join(cwd, "a"));
    fs.symlinkSync("a", path.join(cwd, "b"));
    space.write("file", "");
    await expect(realTarget(path.join(cwd, "a"))).rejects.toThrow("leads nowhere");
    await expect(realTarget(path.join(cwd, "a/x"))).rejects.toThrow("leads nowhere");
    await expect(realTarget(path.join(cwd, "file/x"))).rejects.toThrow("leads nowhere");
  });

  it("agrees with the system on random trees of links", async () => {
    const { cwd } = space;
    fs.mkdirSync(path.join(cwd, "a/b"), { recursive: true });
    fs.symlinkSync("a", path.join(cwd, "c"));
    fs.symlinkSync("../..", path.join(cwd, "a/b/c"));
    await fc.assert(
      fc.asyncProperty(segments, async (parts) => {
        const target = path.join(cwd, ...parts);
        const real = await realTarget(target);
        if (fs.existsSync(target)) expect(real).toBe(fs.realpathSync(target));
        else expect(fs.existsSync(real)).toBe(false);
      }),
    );
  });
});

describe("realDirs", () => {
  it("leaves out what does not exist", async () => {
    expect(await realDirs([space.cwd, path.join(space.base, "none")])).toEqual([space.cwd]);
  });
});
