import os from "node:os";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memberRunDir, teamDirName, teamPaths, troupeHome } from "../../src/team/paths.js";

describe("troupeHome", () => {
  it("is TROUPE_HOME, else .troupe in the home directory, always absolute", () => {
    expect(troupeHome({ TROUPE_HOME: "/x/y", HOME: "/home/a" })).toBe("/x/y");
    expect(troupeHome({ TROUPE_HOME: "", HOME: "/home/a" })).toBe("/home/a/.troupe");
    expect(troupeHome({})).toBe(path.join(os.homedir(), ".troupe"));
    expect(path.isAbsolute(troupeHome({ TROUPE_HOME: "relative" }))).toBe(true);
  });
});

describe("teamDirName", () => {
  it("is one directory name per name and project", () => {
    expect(teamDirName("Demo", "/a")).toMatch(/^demo-[0-9a-f]{6}$/);
    expect(teamDirName("Demo", "/a")).toBe(teamDirName("DEMO", "/a"));
    expect(teamDirName("demo", "/a")).not.toBe(teamDirName("demo", "/b"));
    expect(teamDirName("straße", "/a")).toBe(teamDirName("STRASSE", "/a"));
  });

  it("holds no separator, whatever the name", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (name) => {
        expect(teamDirName(name, "/a")).toMatch(/^[a-z0-9_%-]+$/);
      }),
    );
  });
});

describe("teamPaths", () => {
  it("are all below the team's directory", () => {
    const { dirName, home, sockets, ...paths } = teamPaths("/h", "demo-abc123");
    for (const each of Object.values(paths)) expect(`${each}/`).toMatch(/^\/h\/teams\/demo-abc123\//);
    expect({ dirName, home, sockets }).toEqual({ dirName: "demo-abc123", home: "/h", sockets: paths.run });
    expect(memberRunDir(teamPaths("/h", "demo-abc123"), "12345678")).toBe(
      "/h/teams/demo-abc123/run/12345678",
    );
  });

  it("put sockets where their paths fit, for any length of the home", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 }), (length) => {
        const paths = teamPaths(`/${"h".repeat(length)}`, "demo-abc123");
        const longest = Math.max(
          ...["host.sock", "tmux.sock"].map((name) => `${paths.sockets}/${name}`.length),
        );
        expect(longest).toBeLessThanOrEqual(process.platform === "linux" ? 107 : 103);
        expect(path.dirname(paths.socket)).toBe(paths.sockets);
        const short = `${paths.run}/tmux.sock`.length <= (process.platform === "linux" ? 107 : 103);
        expect(paths.sockets === paths.run).toBe(short);
      }),
    );
  });

  it("count bytes, not characters", () => {
    const { sockets, run } = teamPaths(`/${"ß".repeat(40)}`, "demo-abc123");
    expect(`${run}/tmux.sock`.length).toBeLessThan(100);
    expect(sockets).not.toBe(run);
  });

  it("agree on the short directory, and never share it", () => {
    const long = `/${"h".repeat(100)}`;
    const one = teamPaths(long, "demo-abc123").sockets;
    expect(one).toBe(teamPaths(long, "demo-abc123").sockets);
    expect(one).toMatch(new RegExp(`^/tmp/troupe-${process.getuid?.()}/[0-9a-f]{16}$`));
    expect(one).not.toBe(teamPaths(long, "demo-abc124").sockets);
    expect(one).not.toBe(teamPaths(`${long}x`, "demo-abc123").sockets);
  });
});
